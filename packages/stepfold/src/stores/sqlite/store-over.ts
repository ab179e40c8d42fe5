import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { AppendedRow, SnapshotStore } from "../../ports/snapshot-store.ts";
import { storeError } from "../databases/sqlite/sqlite-error.ts";
import { checkedStore } from "../kit/checked-store.ts";
import { fairClaim } from "../record/fair-claim.ts";
import { claimDue, releaseClaim, renewClaim } from "./claims.ts";
import { commitQueue } from "./commit-queue.ts";
import { type Connection, reading } from "./connection.ts";
import { listExecutions } from "./list-executions.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { type HeadRow, snapshotOf } from "./snapshot-row.ts";
import { change, creation } from "./write-commit.ts";

/** The store on an open connection, which it closes in the end. */
export function storeOver(connection: Connection, shared: boolean): SnapshotStore {
  const queue = commitQueue(connection);
  // what was issued before comes first
  const write = async <T>(work: () => T): Promise<T> => {
    queue.flush();
    return work();
  };
  return checkedStore(
    {
      name: "sqlite",
      features: { clock: "store", durable: shared, multiProcess: shared, permits: true },
      create: (commit, { claim } = {}) => queue.add(commit.workflowId, creation(connection, commit, claim)),
      commit: (commit) => queue.add(commit.workflowId, change(connection, commit)),
      claim: fairClaim((wanted) => write(() => claimDue(connection, wanted))),
      renew: (claim) => write(() => renewClaim(connection, claim)),
      release: (claim, version) => write(() => releaseClaim(connection, claim, version)),
      now: async () => connection.now(),
      load: async (workflowId) => loadSnapshot(connection, workflowId),
      events: async (workflowId, afterVersion, limit) => eventsOf(connection, workflowId, afterVersion, limit),
      list: (query) => listExecutions(connection, query),
      delete: (workflowId) => write(() => deleteExecution(connection, workflowId)),
      prune: (wanted) => write(() => pruneExecutions(connection, wanted)),
      putDefinition: (hash, definition) => write(() => putDefinition(connection, hash, definition)),
      getDefinition: async (hash) => definitionOf(connection, hash),
      async close() {
        queue.flush();
        connection.db.close();
      },
    },
    storeError,
  );
}

function loadSnapshot(connection: Connection, workflowId: string): Snapshot | null {
  return reading(connection, () => {
    const row = connection.sql.head.get(workflowId) as unknown as HeadRow | undefined;
    return row ? snapshotOf(connection, row) : null;
  });
}

function eventsOf({ sql }: Connection, workflowId: string, afterVersion: number, limit: number): AppendedRow[] {
  const rows = sql.rows.all(workflowId, afterVersion, limit);
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
