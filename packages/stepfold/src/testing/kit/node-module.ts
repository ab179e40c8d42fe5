/** The modules that tests use where they are. */
type NodeModuleName = "node:async_hooks" | "node:fs/promises" | "node:path";

/** Returns a module of Node; null where there is none. It is not imported, so that tests without files run in browsers and workers too. */
export function nodeModule<K extends NodeModuleName>(name: K): ReturnType<typeof process.getBuiltinModule<K>> | null {
  return globalThis.process?.getBuiltinModule?.(name) ?? null;
}
