import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { AppendedRow, Lease, SnapshotStore } from "../../ports/snapshot-store.ts";
import { claimDue, releaseClaim, renewClaim } from "./claims.ts";
import { commitQueue } from "./commit-queue.ts";
import { type Connection, reading } from "./connection.ts";
import { listExecutions } from "./list-executions.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { type HeadRow, snapshotOf } from "./snapshot-row.ts";
import { storeError } from "./sqlite-error.ts";
import { change, creation } from "./write-commit.ts";

/** The store on an open connection, which it closes in the end. */
export function storeOver(connection: Connection, shared: boolean): SnapshotStore {
  const queue = commitQueue(connection);
  let closed = false;
  const read = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (closed) throw new StepfoldError("STORE_UNAVAILABLE", { store: "sqlite", reason: "it was closed" });
    try {
      return work();
    } catch (cause) {
      throw storeError(cause);
    }
  };
  // what was issued before comes first
  const write = <T>(work: () => T): Promise<T> =>
    read(() => {
      queue.flush();
      return work();
    });

  return {
    name: "sqlite",
    features: { clock: "store", durable: shared, multiProcess: shared },
    create: (commit, { claim } = {}) =>
      read(() => queue.add(commit.workflowId, creation(connection, commit, claim && checkedLease(claim)))),
    commit: (commit) => read(() => queue.add(commit.workflowId, change(connection, commit))),
    claim: (wanted) => write(() => claimDue(connection, checkedLease(wanted))),
    renew: (claim) => write(() => renewClaim(connection, claim)),
    release: (claim, version) => write(() => releaseClaim(connection, claim, version)),
    load: (workflowId) => read(() => loadSnapshot(connection, workflowId)),
    events: (workflowId, afterVersion, limit) => read(() => eventsOf(connection, workflowId, afterVersion, limit)),
    list: (query = {}) => read(() => listExecutions(connection, query)),
    delete: (workflowId) => write(() => deleteExecution(connection, workflowId)),
    prune: (wanted) => write(() => pruneExecutions(connection, wanted)),
    putDefinition: (hash, definition) => write(() => putDefinition(connection, hash, definition)),
    getDefinition: (hash) => read(() => definitionOf(connection, hash)),
    async close() {
      if (closed) return;
      queue.flush();
      closed = true;
      connection.db.close();
    },
  };
}

function loadSnapshot(connection: Connection, workflowId: string): Snapshot | null {
  return reading(connection, () => {
    const row = connection.sql.head.get(workflowId) as unknown as HeadRow | undefined;
    return row ? snapshotOf(connection, row) : null;
  });
}

function eventsOf({ sql }: Connection, workflowId: string, afterVersion: number, limit: number): AppendedRow[] {
  const rows = sql.rows.all(workflowId, Math.max(-1, afterVersion), Math.min(Math.max(0, limit), 2 ** 31));
  return (rows as unknown as { version: number; commitId: string; event: string }[]).map(({ version, commitId, event }) => {
    return { version, commitId, event: JSON.parse(event) as Event };
  });
}

function putDefinition({ sql }: Connection, hash: string, definition: WorkflowDefinition): void {
  // starts of known workflows do not wait for the disk
  if (!sql.definition.get(hash)) sql.putDefinition.run(hash, JSON.stringify(definition));
}

function definitionOf({ sql }: Connection, hash: string): WorkflowDefinition | null {
  const row = sql.definition.get(hash);
  return row ? (JSON.parse(row.definition as string) as WorkflowDefinition) : null;
}

function checkedLease<L extends Lease>(lease: L): L {
  if (Number.isInteger(lease.leaseMs) && lease.leaseMs > 0) return lease;
  throw new StepfoldError("OPTION_INVALID", { option: "leaseMs", reason: "must be a whole number of milliseconds, at least 1" });
}
