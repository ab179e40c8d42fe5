import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { AppendedRow, Lease, SnapshotStore } from "../../ports/snapshot-store.ts";
import { claimDue, releaseClaim, renewClaim } from "./claims.ts";
import { listExecutions } from "./list-executions.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { emptyShelf, type Shelf } from "./shelf.ts";
import { snapshotOf } from "./stored-execution.ts";
import { commitExecution, createExecution } from "./write-commit.ts";

/** How a memory store behaves. */
export interface MemoryStoreOptions {
  /** The clock that judges leases and due times, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => EpochMs;
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number;
}

/**
 * A store in this process's memory, with the semantics of the durable ones: for tests, examples and trying out.
 *
 * Everything is lost when the process ends, and no other process sees it. Runs wherever JavaScript does.
 * After `close()` every call rejects with `STORE_UNAVAILABLE`.
 *
 * ```ts
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * const store = memoryStore();
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): SnapshotStore {
  const { now = Date.now, idempotencyRetentionMs = 30 * 24 * 60 * 60 * 1000 } = options;
  const shelf = emptyShelf(now, idempotencyRetentionMs);
  let closed = false;
  const ask = async <T>(work: () => T): Promise<T> => {
    if (closed) throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "it was closed" });
    return work();
  };

  return {
    name: "memory",
    features: { clock: "store", durable: false, multiProcess: false },
    create: (commit, { claim } = {}) => ask(() => createExecution(shelf, commit, claim && checkedLease(claim))),
    load: (workflowId) =>
      ask(() => {
        const stored = shelf.executions.get(workflowId);
        return stored ? snapshotOf(stored) : null;
      }),
    commit: (commit) => ask(() => commitExecution(shelf, commit)),
    claim: (wanted) => ask(() => claimDue(shelf, checkedLease(wanted))),
    renew: (claim) => ask(() => renewClaim(shelf, claim)),
    release: (claim, version) => ask(() => releaseClaim(shelf, claim, version)),
    events: (workflowId, afterVersion, limit) => ask(() => eventsOf(shelf, workflowId, afterVersion, limit)),
    list: (query = {}) => ask(() => listExecutions(shelf.executions.values(), query)),
    delete: (workflowId) => ask(() => deleteExecution(shelf, workflowId)),
    prune: (wanted) => ask(() => pruneExecutions(shelf, wanted)),
    putDefinition: (hash, definition) =>
      ask(() => {
        if (!shelf.definitions.has(hash)) shelf.definitions.set(hash, JSON.stringify(definition));
      }),
    getDefinition: (hash) =>
      ask(() => {
        const text = shelf.definitions.get(hash);
        return text === undefined ? null : (JSON.parse(text) as WorkflowDefinition);
      }),
    async close() {
      closed = true;
    },
  };
}

function eventsOf(shelf: Shelf, workflowId: string, afterVersion: number, limit: number): AppendedRow[] {
  const from = Math.max(0, afterVersion + 1);
  const rows = shelf.executions.get(workflowId)?.events.slice(from, from + Math.max(0, limit)) ?? [];
  return rows.map(({ commitId, event }, index) => ({ version: from + index, commitId, event: JSON.parse(event) as Event }));
}

function checkedLease<L extends Lease>(lease: L): L {
  if (Number.isInteger(lease.leaseMs) && lease.leaseMs > 0) return lease;
  throw new StepfoldError("OPTION_INVALID", { option: "leaseMs", reason: "must be a whole number of milliseconds, at least 1" });
}
