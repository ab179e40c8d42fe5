import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { MemoryTable } from "../../src/stores/databases/memory/memory-table.ts";
import { storeOver } from "../../src/stores/kit/store-over.ts";
import type { StoreBench } from "../../src/testing/contract-case.ts";

/** A bench on an empty memory store whose clock moves only by `advance`. */
export function memoryBench(): StoreBench {
  let now = 1_000_000;
  const retentionMs = 1000;
  const table = new MemoryTable(() => now);
  const errorOf = (cause: unknown): StepfoldError =>
    new StepfoldError("STORE_REJECTED", { store: "memory", reason: String(cause) }, { cause });
  const store = storeOver(table, { idempotencyRetentionMs: retentionMs, errorOf });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  const damage = async (workflowId: string): Promise<void> => {
    table.rows.set(workflowId, { ...table.rows.get(workflowId)!, head: "{" });
  };
  return { store, retentionMs, open: async () => store, advance, damage };
}
