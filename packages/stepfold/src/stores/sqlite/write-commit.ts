import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { type Guard, refusal, repeatedCreation } from "../kit/verdict.ts";
import { type WrittenCommit, writtenCommit } from "../kit/written-commit.ts";
import { dueAtOf } from "../record/due-time.ts";
import type { Connection } from "./connection.ts";

/** Makes the write of a new execution. Its values become text at once: what the caller does with them later does not matter. */
export function creation(connection: Connection, commit: Commit, wanted: Lease | undefined): () => Claim | null {
  const { sql, now: clock } = connection;
  const { permit } = commit.head;
  const lease = permit ? undefined : wanted;
  const written = writtenCommit(commit);
  const { workflowId, incarnation, ended } = written;
  const { id: definitionId } = commit.head.definition;
  const definition = JSON.stringify(commit.head.definition);
  const metadata = JSON.stringify(commit.head.metadata);

  return () => {
    const now = clock();
    refuseTombstone(connection, workflowId, now);
    const held = lease && !ended ? { owner: lease.owner, fence: 1, until: now + lease.leaseMs } : { owner: null, fence: 0, until: null };
    const created = sql.createExecution.get(
      ...[workflowId, incarnation, definitionId, definition, metadata, written.version, written.status, written.head],
      ...[written.wakeAt, held.until ?? dueAtOf(written.wakeAt, now), held.owner, held.fence, held.until, now, ended ? now : null],
      ...[permit?.key ?? null, permit?.limit ?? null],
    ) as { seq: number } | undefined;
    if (!created) {
      const stored = sql.execution.get(workflowId) as unknown as Guard & { seq: number; leaseUntil: EpochMs | null };
      // the claim is as old as its lease
      const claimedAt = lease && stored.leaseUntil !== null ? stored.leaseUntil - lease.leaseMs : now;
      return repeatedCreation(commit, stored, writerOf(connection, stored.seq, 0), lease, claimedAt);
    }
    append(connection, created.seq, written);
    return lease && held.owner !== null
      ? { workflowId, incarnation, owner: held.owner, leaseMs: lease.leaseMs, fence: held.fence, claimedAt: now, crashes: 0 }
      : null;
  };
}

/** Makes the write of a commit. */
export function change(connection: Connection, commit: Commit): () => void {
  const { sql, now } = connection;
  const written = writtenCommit(commit);
  const { workflowId, incarnation, expectedVersion, fence, version, status, head, wakeAt, frees } = written;

  return () => {
    const at = now();
    const isStep = fence !== null && !frees;
    const row =
      (isStep ? sql.step.get(version, head, wakeAt, at, workflowId, incarnation, expectedVersion, status, fence) : undefined) ??
      sql.change.get(version, head, wakeAt, at, status, fence, frees ? 1 : 0, workflowId, incarnation, expectedVersion);
    if (row) append(connection, row.seq as number, written);
    else refuse(connection, written);
  };
}

function append({ sql }: Connection, seq: number, { commitId, events, children }: WrittenCommit): void {
  for (const { key, text, last } of children) {
    if (text === null || last) sql.deleteChild.run(seq, key);
    if (text !== null) sql.putChild.run(seq, key, text);
  }
  for (const { version, text } of events) sql.appendEvent.run(seq, version, commitId, text);
}

/** Says why the guard held a commit back; returns if it was applied before. */
function refuse(connection: Connection, written: WrittenCommit): void {
  const stored = connection.sql.execution.get(written.workflowId) as unknown as (Guard & { seq: number }) | undefined;
  const writer = stored ? writerOf(connection, stored.seq, written.expectedVersion + 1) : null;
  const refused = refusal(written, stored ?? null, writer);
  if (refused) throw refused;
}

/** The commit that wrote a version. */
function writerOf({ sql }: Connection, seq: number, version: number): string | null {
  return (sql.commitIdAt.get(seq, version)?.commitId ?? null) as string | null;
}

function refuseTombstone({ sql, retentionMs }: Connection, workflowId: string, now: EpochMs): void {
  const tombstone = sql.tombstone.get(workflowId) as { deletedAt: EpochMs } | undefined;
  if (!tombstone) return;
  if (tombstone.deletedAt + retentionMs > now) {
    throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: tombstone.deletedAt });
  }
  sql.forget.run(workflowId);
}
