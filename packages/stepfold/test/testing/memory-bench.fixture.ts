import { storeOver } from "../../src/stores/memory/memory-store.ts";
import { emptyShelf } from "../../src/stores/memory/shelf.ts";
import type { StoreBench } from "../../src/testing/contract-case.ts";

/** An empty memory store whose clock moves only when told. */
export function memoryBench(): StoreBench {
  let now = 1_000_000;
  const shelf = emptyShelf(() => now, 1000);
  const store = storeOver(shelf);
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  const damage = async (workflowId: string): Promise<void> => {
    shelf.executions.get(workflowId)!.head = "{";
  };
  return { store, retentionMs: 1000, open: async () => store, advance, damage };
}
