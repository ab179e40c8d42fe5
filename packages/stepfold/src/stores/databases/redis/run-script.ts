/** A Lua script that Redis runs as one step: nothing else happens on the server meanwhile. */
export interface LuaScript {
  /** For people. */
  readonly name: string;
  readonly text: string;
}

/** Runs a script on the server and gives what it answers: texts, and lists of them. */
export type RunScript = (script: LuaScript, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** Runs a script on the heads of these executions, and gives the list that it answers. */
export type CallScript = (script: LuaScript, ids: readonly string[], args: readonly string[]) => Promise<readonly unknown[]>;

/** The two commands that a store needs, whatever client sends them. */
export interface ScriptServer {
  evalsha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
}

/**
 * Runs scripts by their hash, and sends the text only to a server that does not know it: a new one, one that took over
 * after a failure, or one whose scripts were flushed.
 */
export function scriptRunner(server: ScriptServer): RunScript {
  const hashes = new Map<LuaScript, Promise<string>>();
  return async (script, keys, args) => {
    const hash = hashes.get(script) ?? sha1Of(script.text);
    hashes.set(script, hash);
    try {
      return await server.evalsha(await hash, keys, args);
    } catch (cause) {
      if (!isUnknownScript(cause)) throw cause;
    }
    return server.eval(script.text, keys, args);
  };
}

/** Nothing was run. The message may quote what was sent behind a comma. */
function isUnknownScript(cause: unknown): boolean {
  return cause instanceof Error && /^(?:Command failed: )?NOSCRIPT\b/.test(cause.message);
}

async function sha1Of(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
