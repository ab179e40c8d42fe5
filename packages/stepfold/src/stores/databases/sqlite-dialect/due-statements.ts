import { scannedRows, windowRows } from "../../kit/claims/due-keys.ts";
import { guardColumns } from "../../kit/columns.ts";

/**
 * The column `due_at` holds due times. For an execution that is due at once, this number is subtracted, so that the value is negative:
 * then the execution is due for every process, even if the clock was ahead when the value was written, or was set back since.
 */
const shiftMs = 10 ** 13;

/** SQL for the due time in the column `due_at`, without the subtraction. */
export const dueTime: string = `iif(due_at < 0, due_at + ${shiftMs}, due_at)`;

/**
 * Returns SQL for the column `due_at` after a change.
 *
 * @param inMs SQL for the milliseconds from now after which the execution is due; null: the execution is due at its `wakeAt`. A `wakeAt` of
 *   0 or less means at once, and then an earlier due time stays
 * @param wakeAt SQL for the execution's `wakeAt` after the change
 * @param now SQL for the time
 * @param isNew true for a new execution, which has no earlier due time
 */
export function dueAtSql(inMs: string | null, wakeAt: string, now: string, isNew = false): string {
  if (inMs !== null) return `${now} + ${inMs}`;
  const since = isNew ? now : `min(coalesce(${dueTime}, ${now}), ${now})`;
  return `iif(${wakeAt} <= 0, ${since} - ${shiftMs}, ${wakeAt})`;
}

const maxWhole = Number.MAX_SAFE_INTEGER;

/**
 * SQL for a number, or NULL if JavaScript cannot hold it exactly: `node:sqlite` and libSQL refuse to read all rows of a statement because of
 * one such number.
 */
export const wholeSql = (column: string): string => `iif(${column} BETWEEN -${maxWhole} AND ${maxWhole}, ${column}, NULL)`;

/** SQL for a time by which a list is sorted, so that a list goes on after each row. */
export const timeSql = (column: string): string => `min(max(${column}, -${maxWhole}), ${maxWhole})`;

/** SQL that is true for rows which can be claimed or deleted: a row that cannot must not take the place of others. */
export const areWhole: string = `max(version, fence, crashes, size_bytes, trimmed) <= ${maxWhole}`;

/**
 * SQL for the parameter `?3` as a limit. With `?3` alone, SQLite plans with the value of the limit, and so it prepares the statement again
 * for each call, which takes longer than running it.
 */
const limit = "?3 + 0";

/** Texts of statements that read executions which have been due for at least `?2` milliseconds. */
export interface DueTexts {
  /**
   * The longest due executions without a permit: at most `?3` of those due at once, and at most `?3` of those due at a time. If one with a
   * permit is due, a row follows that has only `keyed_due`: see `KeyedDue`.
   */
  readonly plain: string;
  /** The longest due executions with the permit key `?4`, in the same way. */
  readonly ofKey: string;
  /** The executions that are due and may be claimed without a permit, at most `?3`, the earliest `exempt_at` first. */
  readonly exempt: string;
  /** The keys of the longest due executions with a permit, each with a limit and the number of these executions. */
  readonly longestDueKeys: string;
  /**
   * Goes from key to key in the index, beginning after the key `?3`, and returns each key, `scannedRows` at most, with the limit of a due
   * execution, or NULL if none of its executions is due. Each key is looked at once, however many executions wait for it.
   */
  readonly scanOfKeys: string;
}

/**
 * Returns the texts of the statements.
 *
 * @param now SQL for the time
 * @param guard SQL for the columns of a guard
 * @param key SQL for the column with the key of a permit
 */
export function dueTexts(now: string, guard: string, key: string): DueTexts {
  // two ranges, because the index returns each in order, while both together would have to be sorted. If `?2` is 0, executions that are due
  // at once (below 0) are found whatever the clock says
  const ranges = [`due_at <= iif(?2 = 0, -1, min(-1, ${now} - ?2 - ${shiftMs}))`, `due_at BETWEEN 0 AND ${now} - ?2`];
  const longestDue = (columns: string, which: string, most: string | number): string =>
    ranges
      .map(
        (range) => `SELECT ${columns} FROM executions WHERE ${which} AND ${range} ORDER BY executions.due_at, executions.seq LIMIT ${most}`,
      )
      .map((text) => `SELECT * FROM (${text})`)
      .join(" UNION ALL ");
  const isDue = (range: string): string => `EXISTS (SELECT 1 FROM executions WHERE permit_key IS NOT NULL AND ${range})`;
  const nextKey = (than: string): string =>
    `SELECT min(permit_key) FROM executions WHERE permit_key IS NOT NULL AND due_at IS NOT NULL AND permit_key > ${than}`;
  const exempt = `FROM executions INDEXED BY executions_exempt WHERE exempt_at BETWEEN -${maxWhole} AND max(0, ${now} - ?2)`;
  const firstLimit = (range: string): string =>
    `(SELECT permit_limit FROM executions WHERE permit_key = keys.key AND ${range} ORDER BY due_at, seq LIMIT 1)`;
  return {
    plain: `${longestDue(`NULL AS keyed_due, ${guard}`, `permit_key IS NULL AND ${areWhole}`, limit)}
      UNION ALL SELECT iif(EXISTS (SELECT 1 ${exempt}), 'exempt', 'some'), ${guardColumns.map(() => "NULL").join(", ")}
      WHERE ${ranges.map(isDue).join(" OR ")}`,
    ofKey: longestDue(guard, `permit_key = ?4 AND ${areWhole}`, limit),
    exempt: `SELECT ${guard} ${exempt} AND (${ranges.join(" OR ")}) AND ${areWhole}
      ORDER BY executions.exempt_at, executions.seq LIMIT ${limit}`,
    longestDueKeys: `SELECT ${key} AS key, permit_limit, min(since) AS since, count(*) AS rows
      FROM (${longestDue(`permit_key, permit_limit, ${dueTime} AS since`, "permit_key IS NOT NULL", windowRows)})
      GROUP BY permit_key ORDER BY since`,
    scanOfKeys: `
      WITH RECURSIVE keys (key) AS (
        ${nextKey("?3")} UNION ALL SELECT (${nextKey("keys.key")}) FROM keys WHERE key IS NOT NULL LIMIT ${scannedRows + 1})
      SELECT ${key} AS key, permit_limit FROM (
        SELECT key AS permit_key, coalesce(${ranges.map(firstLimit).join(", ")}) AS permit_limit
        FROM keys WHERE key IS NOT NULL LIMIT ${scannedRows})`,
  };
}
