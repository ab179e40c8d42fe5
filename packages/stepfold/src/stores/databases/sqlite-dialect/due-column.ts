import type { EpochMs } from "../../../core/values/json.ts";

/**
 * The column `due_at` holds times. What is due at once lies this far below its time, so below zero: then it is due for every
 * process, even if the clock was ahead when it was written, or was set back since.
 */
const shiftMs = 10 ** 13;

/** The time in a column. */
export function readDueAt(column: EpochMs | null): EpochMs | null {
  return column !== null && column < 0 ? column + shiftMs : column;
}

/**
 * The column after a change, as SQL.
 *
 * @param inMs what gives after how many milliseconds it is due; null: when its `wakeAt` says
 * @param wakeAt what gives the execution's `wakeAt` after the change
 */
export function dueAtSql(inMs: string | null, wakeAt: string, now: string, isNew = false): string {
  if (inMs !== null) return `${now} + ${inMs}`;
  const since = isNew ? now : `min(iif(due_at < 0, due_at + ${shiftMs}, coalesce(due_at, ${now})), ${now})`;
  return `iif(${wakeAt} <= 0, ${since} - ${shiftMs}, ${wakeAt})`;
}

/** The two ranges of what is due for at least so long, as conditions. */
export function dueRanges(now: string, overdueMs: string | null): readonly [atOnce: string, timed: string] {
  if (overdueMs === null) return ["due_at < 0", `due_at BETWEEN 0 AND ${now}`];
  return [`due_at <= min(-1, ${now} - ${overdueMs} - ${shiftMs})`, `due_at BETWEEN 0 AND ${now} - ${overdueMs}`];
}
