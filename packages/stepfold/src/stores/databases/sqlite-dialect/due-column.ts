import type { EpochMs } from "../../../core/values/json.ts";
import type { DueChange } from "../../kit/execution-table.ts";

/**
 * The column `due_at` holds times. What is due at once lies this far below its time, so below zero: then it is due for every
 * process, even if the clock was ahead when it was written, or was set back since.
 */
const shiftMs = 10 ** 13;

/** The time in a column. */
export function readDueAt(column: EpochMs | null): EpochMs | null {
  return column !== null && column < 0 ? column + shiftMs : column;
}

/** The column after a change, as SQL. @param bind gives the name of a parameter with this value */
export function dueAtSql(due: DueChange, now: string, bind: (value: EpochMs | null) => string, isNew = false): string {
  if (due !== "now") return "at" in due ? bind(due.at) : `${now} + ${bind(due.inMs)}`;
  if (isNew) return `${now} - ${shiftMs}`;
  return `min(iif(due_at < 0, due_at, coalesce(due_at, ${now}) - ${shiftMs}), ${now} - ${shiftMs})`;
}

/** The two ranges of what is due for at least so long, as conditions. */
export function dueRanges(now: string, overdueMs: string | null): readonly [atOnce: string, timed: string] {
  if (overdueMs === null) return ["due_at < 0", `due_at BETWEEN 0 AND ${now}`];
  return [`due_at <= min(-1, ${now} - ${overdueMs} - ${shiftMs})`, `due_at BETWEEN 0 AND ${now} - ${overdueMs}`];
}

/** The order of what is due: longest first. */
export const dueOrder: string = `iif(due_at < 0, due_at + ${shiftMs}, due_at), seq`;
