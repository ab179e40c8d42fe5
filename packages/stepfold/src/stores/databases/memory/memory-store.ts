import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { aFunction, aTime, checkOptions } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { MemoryTable } from "./memory-table.ts";

/** How a memory store behaves. */
export interface MemoryStoreOptions extends RetentionOptions {
  /** The clock that judges leases and due times, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
}

/**
 * A store in this process's memory, with the semantics of the durable ones: for tests, examples and trying out.
 *
 * Everything is lost when the process ends, and no other process sees it. The store runs wherever JavaScript runs.
 * After `close()` every call rejects with `STORE_UNAVAILABLE`.
 *
 * ```ts
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * const store = memoryStore();
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function memoryStore(options: MemoryStoreOptions = {}): SnapshotStore {
  checkOptions("memoryStore", options, { now: aFunction, idempotencyRetentionMs: aTime });
  const { now = Date.now, idempotencyRetentionMs } = options;
  return storeOver(new MemoryTable(now), {
    idempotencyRetentionMs,
    errorOf: (cause) => new StepfoldError("STORE_REJECTED", { store: "memory", reason: String(cause) }, { cause }),
  });
}
