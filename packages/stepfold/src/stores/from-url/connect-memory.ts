import { memoryStore } from "../databases/memory/memory-store.ts";
import type { Site } from "./site.ts";

/** Connects to `memory:`, a store for experiments. Its data is lost when the process ends. */
export async function connectMemory(): Promise<Site> {
  return {
    name: "memory",
    space: "",
    hasSpaces: true,
    open: async (_space, { idempotencyRetentionMs }) => memoryStore(idempotencyRetentionMs === undefined ? {} : { idempotencyRetentionMs }),
    drop: async () => undefined,
    migrations: async () => null,
    close: async () => undefined,
  };
}
