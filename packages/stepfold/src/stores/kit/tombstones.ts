import type { EpochMs } from "../../core/values/json.ts";
import { liveGuard } from "./claims/guard.ts";
import type { ExecutionGuard, ExecutionTable, RowWrite } from "./execution-table.ts";
import type { CheckedPrune } from "./lists/checked-query.ts";
import type { RowWriter } from "./writing/row-writer.ts";
import { refuseDelete } from "./writing/verdict.ts";

/** How long the id of a deleted execution stays taken, where nothing else is said. */
export const defaultRetentionMs: number = 30 * 24 * 60 * 60 * 1000;

/** Executions that are deleted together. */
const deletedTogether = 100;

/**
 * Tombstones: a deleted execution leaves its id, so that a late repetition of its start does not begin it again. After
 * the retention the id is free: the next creation with that id, or the next prune, removes the tombstone.
 */
export function isExpired({ deletedAt }: ExecutionGuard, now: EpochMs, retentionMs: number): boolean {
  return deletedAt !== null && idFreeAt(deletedAt, retentionMs) <= now;
}

/** When the id of an execution that was deleted then is free again. */
export function idFreeAt(deletedAt: EpochMs, retentionMs: number): EpochMs {
  return deletedAt + retentionMs;
}

/** Removes a tombstone. */
export function removalOf({ id, incarnation }: ExecutionGuard): RowWrite {
  return { kind: "remove", id, when: { incarnation, deleted: true } };
}

/** Makes a tombstone of an execution that has ended. */
function burialOf({ id, incarnation, version }: ExecutionGuard): RowWrite {
  return { kind: "bury", id, when: { incarnation, version } };
}

/** Deletes one ended execution. Gives it as it was. */
export async function deleteExecution(table: ExecutionTable, writer: RowWriter, workflowId: string): Promise<ExecutionGuard> {
  const guard = liveGuard((await table.read([workflowId])).found.get(workflowId));
  refuseDelete(workflowId, guard?.status ?? null);
  // an ended execution does not change any more: it can only have been deleted
  if (!(await writer.write(burialOf(guard!)))) refuseDelete(workflowId, null);
  return guard!;
}

/**
 * Deletes ended executions, those first that ended first, and removes tombstones whose retention is over: of both at most `limit`,
 * so that one call costs no more, however many tombstones are there. Gives the executions that it deletes, or would.
 */
export async function pruneExecutions(
  table: ExecutionTable,
  writer: RowWriter,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
  retentionMs: number,
): Promise<readonly ExecutionGuard[]> {
  const found = statuses.length === 0 ? [] : await table.lists.ended({ before, limit, ended: { statuses, definitionId } });
  if (dryRun) return found;
  const deleted: ExecutionGuard[] = [];
  for (let at = 0; at < found.length; at += deletedTogether) {
    const some = found.slice(at, at + deletedTogether);
    const written = await Promise.all(some.map((guard) => writer.write(burialOf(guard))));
    deleted.push(...some.filter((_, index) => written[index]));
  }
  await removeExpired(table, writer, retentionMs, limit);
  return deleted;
}

async function removeExpired(table: ExecutionTable, writer: RowWriter, retentionMs: number, limit: number): Promise<void> {
  const before = (await table.read([])).now - retentionMs + 1;
  for (let left = limit; left > 0; ) {
    const together = Math.min(left, deletedTogether);
    const expired = await table.lists.ended({ before, limit: together, ended: null });
    const removed = (await Promise.all(expired.map((guard) => writer.write(removalOf(guard))))).filter((one) => one !== null);
    if (expired.length < together || removed.length === 0) return;
    left -= removed.length;
  }
}
