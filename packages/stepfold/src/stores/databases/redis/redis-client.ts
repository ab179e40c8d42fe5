import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { requireMethods } from "../../../core/values/check-arguments.ts";

/** The part of an ioredis client that the store uses: `new Redis()` or `new Cluster()` of ioredis 5 or 6. */
export interface IoredisClient {
  evalsha(sha1: string, numkeys: number, keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, numkeys: number, keysAndArguments: string[]): Promise<unknown>;
}

/** The part of a node-redis client that the store uses: `createClient()`, `createCluster()`, `createSentinel()`, `createClientPool()`. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A connected client of one of the two libraries. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** Sends a script to a server. `script` is the text of the script for `eval`, and its SHA-1 hash for `evalsha`. */
export type SendScript = (command: "eval" | "evalsha", script: string, keys: string[], args: string[]) => Promise<unknown>;

/** Returns the function that sends scripts through a client of either library. */
export function scriptSender(client: RedisClient): SendScript {
  requireMethods("client", client, "a client of ioredis or redis", ["eval"]);
  if ("evalSha" in client) {
    return (command, script, keys, args) => client[command === "eval" ? "eval" : "evalSha"](script, { keys, arguments: args });
  }
  return (command, script, keys, args) => client[command](script, keys.length, [...keys, ...args]);
}

/**
 * Runs a Lua script on the heads of these executions and returns the list that the script answers. Redis runs a script as one step:
 * nothing else happens on the server meanwhile.
 */
export type CallScript = (script: string, ids: readonly string[], args: readonly string[]) => Promise<readonly unknown[]>;

/**
 * Returns a function that runs scripts by their hash, and sends the text only to a server that does not know the script: a new
 * server, one that took over after a failure, or one whose scripts were flushed.
 *
 * @param prefix the text in braces with which all keys begin
 * @throws StepfoldError `OPTION_INVALID` unless the prefix is 1 to 48 letters, digits, `_`, `-`, `.` and `:`
 */
export function scriptRunner(send: SendScript, prefix: string): CallScript {
  if (!/^[\w.:-]{1,48}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "must be 1 to 48 letters, digits, _ - . and :" });
  }
  // a cluster keeps all keys with the same text in braces on one server
  const base = `{${prefix}}:`;
  const hashes = new Map<string, Promise<string>>();
  const run = async (script: string, keys: string[], args: string[]): Promise<unknown> => {
    const hash = hashes.get(script) ?? sha1Of(script);
    hashes.set(script, hash);
    try {
      return await send("evalsha", await hash, keys, args);
    } catch (cause) {
      if (!isUnknownScript(cause)) throw cause;
    }
    return send("eval", script, keys, args);
  };
  return async (script, ids, args) => {
    const answer = await run(script, [`${base}due`, ...ids.map((id) => `${base}e:${id}`)], [...args]);
    return Array.isArray(answer) ? answer : [];
  };
}

/** True if the server does not know the script, so that nothing was run. Only the beginning is read: the rest may quote what was sent. */
function isUnknownScript(cause: unknown): boolean {
  return cause instanceof Error && /^(?:Command failed: )?NOSCRIPT\b/.test(cause.message);
}

async function sha1Of(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
