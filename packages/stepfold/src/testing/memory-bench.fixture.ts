import { memoryStore } from "../stores/memory/memory-store.ts";
import type { StoreBench } from "./contract-case.ts";

/** An empty memory store whose clock moves only when told. */
export function memoryBench(): StoreBench {
  let now = 1_000_000;
  const store = memoryStore({ now: () => now, idempotencyRetentionMs: 1000 });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  return { store, retentionMs: 1000, open: async () => store, advance };
}
