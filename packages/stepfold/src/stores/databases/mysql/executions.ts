import { dueAtOf, laterDueAtOf, nowLiesBackMs } from "../../record/due-time.ts";
import type { Accepted } from "./append.ts";
import { batchesOf, each, filled } from "./batches.ts";
import type { Locked } from "./locked.ts";
import type { Session, SqlValue } from "./mysql-session.ts";
import { clock, type Tables, terminal } from "./tables.ts";
import type { NewExecution } from "./write.ts";

/** Inserts executions. One whose id is there is left as it is: `creator` tells which are new. */
export async function insertExecutions(
  session: Session,
  { executions }: Tables,
  creations: readonly NewExecution[],
  creator: string,
  maxBytes: number,
): Promise<void> {
  const rows = creations.map(({ written, creation }): SqlValue[] => {
    const { workflowId, incarnation, version, status, head, wakeAt, ended } = written;
    const { definitionId, definition, metadata, lease, permit } = creation;
    const held = lease && !ended ? lease : null;
    const leaseMs = held?.leaseMs ?? null;
    const dueFromNowMs = leaseMs ?? (wakeAt === null || wakeAt > 0 ? null : -nowLiesBackMs);
    return [
      ...[workflowId, incarnation, definitionId, definition, metadata, creator, version, status, head, wakeAt],
      ...[dueFromNowMs, wakeAt, held?.owner ?? null, held ? 1 : 0, leaseMs, ended ? 1 : 0],
      ...[permit?.key ?? null, permit?.limit ?? null],
    ];
  });
  const row = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, COALESCE(${clock} + CAST(? AS SIGNED), ?), ?, ?, ${clock} + CAST(? AS SIGNED), ${clock}, ${clock}, IF(? > 0, ${clock}, NULL), ?, ?)`;
  for (const batch of batchesOf(rows, maxBytes)) {
    const values = filled(batch, ([id]) => [id!, "", "", "", "", "", 0, "", "", null, null, null, null, 0, null, 0, null, null]);
    await session.run(
      `INSERT INTO ${executions} (id, incarnation, definition_id, definition, metadata, creator, version, status, head, wake_at,
        due_at, owner, fence, lease_until, created_at, updated_at, ended_at, permit_key, permit_limit)
      VALUES ${each(values.length, row)} ON DUPLICATE KEY UPDATE seq = seq`,
      values.flat(),
    );
  }
}

type HeadRow = readonly [seq: number, version: number, ...rest: SqlValue[]];

/**
 * Writes the heads of executions that are there and locked. An insert that always meets its row is the one statement that
 * changes many rows, each to values of its own, without a temporary table.
 */
export async function changeExecutions(
  session: Session,
  { executions }: Tables,
  changes: readonly Accepted[],
  stored: ReadonlyMap<string, Locked>,
  maxBytes: number,
): Promise<void> {
  const rows = changes.map(({ seq, written: { workflowId, fence, version, status, head, wakeAt, frees } }): HeadRow => {
    const { owner, now, leaseUntil, crashes, ...before } = stored.get(workflowId)!;
    const isFree = frees || owner === null;
    const dueAt = owner === null ? laterDueAtOf(wakeAt, now, before.dueAt) : frees ? dueAtOf(wakeAt, now) : before.dueAt;
    return [seq, version, status, head, wakeAt, dueAt, isFree ? null : leaseUntil, fence === null ? crashes : 0];
  });
  // what fills up carries the version -1
  const change = (column: string, value = `VALUES(${column})`): string => `${column} = IF(VALUES(version) < 0, ${column}, ${value})`;
  for (const batch of batchesOf(rows, maxBytes)) {
    const values = filled(batch, ([seq]): HeadRow => [seq, -1, "", "", null, null, null, 0]);
    await session.run(
      `INSERT INTO ${executions} (seq, id, incarnation, definition_id, definition, metadata, creator, version, status, head, wake_at,
        due_at, owner, fence, lease_until, crashes, created_at, updated_at, ended_at)
      VALUES ${each(values.length, `(?, '', '', '', '', '', '', ?, ?, ?, ?, ?, NULL, 0, ?, ?, 0, ${clock}, NULL)`)}
      ON DUPLICATE KEY UPDATE
        ${change("status")}, ${change("head")}, ${change("wake_at")}, ${change("due_at")}, ${change("lease_until")}, ${change("crashes")},
        ${change("owner", "IF(VALUES(lease_until) IS NULL, NULL, owner)")}, ${change("updated_at")},
        ${change("ended_at", `IF(VALUES(status) IN ${terminal}, VALUES(updated_at), NULL)`)}, ${change("version")}`,
      values.flat(),
    );
  }
}
