import { scannedRows, windowRows } from "../../kit/claims/due-keys.ts";

/**
 * The column `due_at` holds times. What is due at once lies this far below its time, so below zero: then it is due for every
 * process, even if the clock was ahead when it was written, or was set back since.
 */
const shiftMs = 10 ** 13;

/** The time in the column. */
export const dueTime: string = `iif(due_at < 0, due_at + ${shiftMs}, due_at)`;

/**
 * The column after a change, as SQL.
 *
 * @param inMs what gives after how many milliseconds it is due; null: when its `wakeAt` says
 * @param wakeAt what gives the execution's `wakeAt` after the change
 */
export function dueAtSql(inMs: string | null, wakeAt: string, now: string, isNew = false): string {
  if (inMs !== null) return `${now} + ${inMs}`;
  const since = isNew ? now : `min(coalesce(${dueTime}, ${now}), ${now})`;
  return `iif(${wakeAt} <= 0, ${since} - ${shiftMs}, ${wakeAt})`;
}

/** Texts of statements that read what is due for at least `?2` milliseconds. */
export interface DueTexts {
  /** The longest due without a permit: at most `?3` of those that are due at once, and of those that have a time. */
  readonly plain: string;
  /** The same of those with the key `?4` in their permit. */
  readonly ofKey: string;
  /** Whether something with a permit is due. */
  readonly areKeysDue: string;
  /** The keys of the longest due executions with a permit, each with the number of these. */
  readonly longestDueKeys: string;
  /**
   * Goes from key to key by the index, from the one after `?3` on, and gives each with the limit of the one that is due longest, or
   * null if nothing of it is due. However many executions wait for one key, it is looked at once.
   */
  readonly scanOfKeys: string;
}

/**
 * @param now what gives the time
 * @param guard the columns of an execution
 * @param key the column with the key of a permit
 */
export function dueTexts(now: string, guard: string, key: string): DueTexts {
  // each is in order by the index; one range over both would have to be sorted. What is due at once needs no clock
  const ranges = [`due_at <= iif(?2 = 0, -1, min(-1, ${now} - ?2 - ${shiftMs}))`, `due_at BETWEEN 0 AND ${now} - ?2`];
  const longestDue = (columns: string, which: string, limit: string | number): string =>
    ranges
      .map((range) => `SELECT ${columns} FROM executions WHERE ${which} AND ${range} ORDER BY executions.due_at, seq LIMIT ${limit}`)
      .map((text) => `SELECT * FROM (${text})`)
      .join(" UNION ALL ");
  const isDue = (range: string): string => `EXISTS (SELECT 1 FROM executions WHERE permit_key IS NOT NULL AND ${range})`;
  const nextKey = (than: string): string =>
    `SELECT min(permit_key) FROM executions WHERE permit_key IS NOT NULL AND due_at IS NOT NULL AND permit_key > ${than}`;
  const firstLimit = (range: string): string =>
    `(SELECT permit_limit FROM executions WHERE permit_key = keys.key AND ${range} ORDER BY due_at, seq LIMIT 1)`;
  return {
    plain: longestDue(guard, "permit_key IS NULL", "?3"),
    ofKey: longestDue(guard, "permit_key = ?4", "?3"),
    areKeysDue: `SELECT ${ranges.map(isDue).join(" OR ")} AS areKeysDue`,
    longestDueKeys: `SELECT ${key} AS key, permit_limit AS most, min(since) AS since, count(*) AS rows
      FROM (${longestDue(`permit_key, permit_limit, ${dueTime} AS since`, "permit_key IS NOT NULL", windowRows)})
      GROUP BY permit_key ORDER BY since`,
    scanOfKeys: `
      WITH RECURSIVE keys (key) AS (
        ${nextKey("?3")} UNION ALL SELECT (${nextKey("keys.key")}) FROM keys WHERE key IS NOT NULL LIMIT ${scannedRows + 1})
      SELECT ${key} AS key, permit_limit AS most FROM (
        SELECT key AS permit_key, coalesce(${ranges.map(firstLimit).join(", ")}) AS permit_limit
        FROM keys WHERE key IS NOT NULL LIMIT ${scannedRows})`,
  };
}
