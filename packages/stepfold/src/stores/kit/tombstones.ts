import type { EpochMs } from "../../core/values/json.ts";
import { countedKeys } from "./claims/counted-keys.ts";
import { liveGuard } from "./claims/guard.ts";
import type { ExecutionGuard, RowWrite } from "./execution-rows.ts";
import type { ExecutionTable } from "./execution-table.ts";
import type { CheckedPrune } from "./lists/checked-query.ts";
import { type OwnedDays, ownedDays } from "./table-keys.ts";
import type { RowWriter } from "./writing/row-writer.ts";
import { refuseDelete } from "./writing/verdict.ts";

/** How long the id of a deleted execution stays taken by default. */
export const defaultRetentionMs: number = 30 * 24 * 60 * 60 * 1000;

/** The number of executions that are deleted at the same time. */
const deletedTogether = 100;

/** Executions that were deleted. */
export interface Deleted {
  /** Their guards from before the deletion. */
  readonly executions: readonly ExecutionGuard[];
  /** The keys of records that may have counted them, and that may be of no use any more (see `Claims.forget`). */
  readonly keys: readonly string[];
  /** Their idempotency keys, which are deleted after them. If the process dies before that, they stay, and nobody ever reads them. */
  readonly owned: readonly OwnedDays[];
}

/**
 * Returns true if the row is a tombstone whose retention is over. A tombstone keeps the id of a deleted execution, so that a late
 * repetition of its start does not begin it again. After the retention the next creation with this id, or a prune, removes the tombstone.
 */
export function isExpired({ deletedAt }: ExecutionGuard, now: EpochMs, retentionMs: number): boolean {
  return deletedAt !== null && idFreeAt(deletedAt, retentionMs) <= now;
}

/** Returns when the id of an execution that was deleted at `deletedAt` is free again. */
export function idFreeAt(deletedAt: EpochMs, retentionMs: number): EpochMs {
  return deletedAt + retentionMs;
}

/** The write that removes a tombstone. */
export function removalOf({ id, incarnation }: ExecutionGuard): RowWrite {
  return { kind: "remove", id, when: { incarnation, deleted: true } };
}

/** The write that turns an ended execution into a tombstone. */
function burialOf({ id, incarnation, version }: ExecutionGuard): RowWrite {
  return { kind: "bury", id, when: { incarnation, version } };
}

/** Deletes one ended execution. @throws StepfoldError `WORKFLOW_NOT_FOUND`, `EXECUTION_OPEN` */
export async function deleteExecution(table: ExecutionTable, writer: RowWriter, workflowId: string): Promise<Deleted> {
  for (;;) {
    const guard = liveGuard((await table.read([workflowId])).found.get(workflowId));
    refuseDelete(workflowId, guard?.status ?? null);
    const keys = await countedKeys(table, [guard!]);
    const owned = await ownedDays(table, [guard!]);
    // if another call has deleted the execution meanwhile, or opened it again, the next round says so
    if (await writer.write(burialOf(guard!))) return { executions: [guard!], keys, owned };
  }
}

/**
 * Deletes ended executions, the oldest end first, and removes tombstones whose retention is over. It handles at most `limit` of each, so
 * that the cost of one call is bounded. Returns the executions that it deletes, or would delete in a dry run.
 */
export async function pruneExecutions(
  table: ExecutionTable,
  writer: RowWriter,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
  retentionMs: number,
): Promise<Deleted> {
  const found = statuses.length === 0 ? [] : await table.lists.ended({ before, limit, ended: { statuses, definitionId } });
  if (dryRun) return { executions: found, keys: [], owned: [] };
  const deleted: ExecutionGuard[] = [];
  const keys = new Set<string>();
  const owned: OwnedDays[] = [];
  for (let at = 0; at < found.length; at += deletedTogether) {
    const some = found.slice(at, at + deletedTogether);
    for (const key of await countedKeys(table, some)) keys.add(key);
    const theirs = await ownedDays(table, some);
    const written = await Promise.all(some.map((guard) => writer.write(burialOf(guard))));
    const gone = some.filter((_, index) => written[index]);
    deleted.push(...gone);
    owned.push(...theirs.filter(({ owner }) => gone.some(({ id }) => id === owner.workflowId)));
  }
  await removeExpired(table, writer, retentionMs, limit);
  return { executions: deleted, keys: [...keys], owned };
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
