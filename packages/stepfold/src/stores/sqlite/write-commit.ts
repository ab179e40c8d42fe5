import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import type { Connection } from "./connection.ts";
import { headText } from "./snapshot-row.ts";

interface Guarded {
  readonly seq: number;
  readonly incarnation: string;
  readonly version: number;
  readonly status: Status;
  readonly owner: string | null;
  readonly fence: number;
}

/** Makes the write of a new execution. Its values become text at once: what the caller does with them later does not matter. */
export function creation(connection: Connection, commit: Commit, lease: Lease | undefined): () => Claim | null {
  const { sql, now: clock } = connection;
  const { workflowId, incarnation, head } = commit;
  const text = headText(head);
  const definition = JSON.stringify(head.definition);
  const metadata = JSON.stringify(head.metadata);
  const append = appending(connection, commit);
  const ended = isTerminal(head.status);
  const wakeAt = ended ? null : commit.wakeAt;
  const owner = lease && !ended ? lease.owner : null;

  return () => {
    const now = clock();
    refuseTombstone(connection, workflowId, now);
    const until = lease && !ended ? now + lease.leaseMs : null;
    const dueAt = until ?? wakeAt;
    const fence = owner === null ? 0 : 1;
    const created = sql.createExecution.get(
      ...[workflowId, incarnation, head.definition.id, definition, metadata],
      ...[head.version, head.status, text, wakeAt, dueAt, owner, fence, until, now, ended ? now : null],
    ) as { seq: number } | undefined;
    if (!created) return repeated(connection, commit, lease);
    append(created.seq);
    return lease && owner !== null ? { workflowId, incarnation, owner, leaseMs: lease.leaseMs, fence, claimedAt: connection.now() } : null;
  };
}

/** Makes the write of a commit. */
export function change(connection: Connection, commit: Commit): () => void {
  const { sql, now } = connection;
  const { workflowId, incarnation, expectedVersion, fence = null, head } = commit;
  const { version, status } = head;
  const text = headText(head);
  const append = appending(connection, commit);
  const ended = isTerminal(status);
  const wakeAt = ended ? null : commit.wakeAt;
  const frees = ended || (commit.release === true && fence !== null);

  return () => {
    const at = now();
    let row: unknown;
    if (fence !== null && !frees) {
      row = sql.step.get(version, text, wakeAt, at, workflowId, incarnation, expectedVersion, status, fence);
    }
    row ??= sql.change.get(...[version, text, wakeAt, at, status, fence, frees ? 1 : 0], ...[workflowId, incarnation, expectedVersion]);
    if (row) append((row as { seq: number }).seq);
    else refuse(connection, commit);
  };
}

function appending({ sql }: Connection, { commitId, events, children = [] }: Commit): (seq: number) => void {
  const rows = events.map((event) => ({ version: event.version, text: JSON.stringify(event) }));
  const changed = children.map(({ key, head }) => ({ key, text: head && JSON.stringify(head) }));
  return (seq) => {
    for (const { key, text } of changed) {
      if (text === null) sql.deleteChild.run(seq, key);
      else sql.putChild.run(seq, key, text);
    }
    for (const { version, text } of rows) sql.appendEvent.run(seq, version, commitId, text);
  };
}

/** Says why the guard held a commit back; returns if it was applied before. */
function refuse(connection: Connection, { workflowId, incarnation, expectedVersion, fence, commitId }: Commit): void {
  const stored = connection.sql.execution.get(workflowId) as unknown as Guarded | undefined;
  if (stored?.incarnation !== incarnation) {
    throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: null });
  }
  if (wroteAt(connection, stored.seq, expectedVersion + 1, commitId)) return;
  if (fence !== undefined && (stored.owner === null || stored.fence !== fence)) throw new StepfoldError("FENCE_LOST", { workflowId });
  if (stored.version !== expectedVersion) {
    throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: stored.version });
  }
  throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: stored.status });
}

/** The answer to a `create` whose id is there: the same again if it was this very commit. */
function repeated(connection: Connection, { workflowId, commitId }: Commit, lease: Lease | undefined): Claim | null {
  const stored = connection.sql.execution.get(workflowId) as unknown as Guarded;
  if (!wroteAt(connection, stored.seq, 0, commitId)) throw new StepfoldError("WORKFLOW_EXISTS", { workflowId });
  const { incarnation, owner, fence } = stored;
  return lease && owner === lease.owner && fence === 1
    ? { workflowId, incarnation, owner, leaseMs: lease.leaseMs, fence, claimedAt: connection.now() }
    : null;
}

function wroteAt({ sql }: Connection, seq: number, version: number, commitId: string): boolean {
  return sql.commitIdAt.get(seq, version)?.commitId === commitId;
}

function refuseTombstone({ sql, retentionMs }: Connection, workflowId: string, now: EpochMs): void {
  const tombstone = sql.tombstone.get(workflowId) as { deletedAt: EpochMs } | undefined;
  if (!tombstone) return;
  if (tombstone.deletedAt + retentionMs > now) {
    throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: tombstone.deletedAt });
  }
  sql.forget.run(workflowId);
}
