import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { AppendedRow, SnapshotStore } from "../../ports/snapshot-store.ts";
import { checkedStore } from "../kit/checked-store.ts";
import { fairClaim } from "../record/fair-claim.ts";
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
export function memoryStore({ now = Date.now, idempotencyRetentionMs = 30 * 24 * 60 * 60 * 1000 }: MemoryStoreOptions = {}): SnapshotStore {
  return storeOver(emptyShelf(now, idempotencyRetentionMs));
}

/** The store on a shelf. */
export function storeOver(shelf: Shelf): SnapshotStore {
  return checkedStore(
    {
      name: "memory",
      features: { clock: "store", durable: false, multiProcess: false, permits: true },
      create: async (commit, { claim } = {}) => createExecution(shelf, commit, claim),
      async load(workflowId) {
        const stored = shelf.executions.get(workflowId);
        return stored ? snapshotOf(stored) : null;
      },
      commit: async (commit) => commitExecution(shelf, commit),
      claim: fairClaim(async (wanted) => claimDue(shelf, wanted)),
      renew: async (claim) => renewClaim(shelf, claim),
      release: async (claim, version) => releaseClaim(shelf, claim, version),
      now: async () => shelf.now(),
      events: async (workflowId, afterVersion, limit) => eventsOf(shelf, workflowId, afterVersion, limit),
      list: (query) => listExecutions(shelf, query),
      delete: async (workflowId) => deleteExecution(shelf, workflowId),
      prune: async (wanted) => pruneExecutions(shelf, wanted),
      async putDefinition(hash, definition) {
        if (!shelf.definitions.has(hash)) shelf.definitions.set(hash, JSON.stringify(definition));
      },
      async getDefinition(hash) {
        const text = shelf.definitions.get(hash);
        return text === undefined ? null : (JSON.parse(text) as WorkflowDefinition);
      },
      close: async () => undefined,
    },
    (cause) => new StepfoldError("STORE_REJECTED", { store: "memory", reason: String(cause) }, { cause }),
  );
}

function eventsOf(shelf: Shelf, workflowId: string, afterVersion: number, limit: number): AppendedRow[] {
  const from = afterVersion + 1;
  const rows = shelf.executions.get(workflowId)?.events.slice(from, from + limit) ?? [];
  return rows.map(({ commitId, event }, index) => ({ version: from + index, commitId, event: JSON.parse(event) as Event }));
}
