import { memoryStore } from "../databases/memory/memory-store.ts";
import type { Site } from "./site.ts";

/** `memory:`, for trying things out: what it holds ends with the process. */
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
