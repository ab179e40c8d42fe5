import type { EpochMs } from "../../../core/values/json.ts";
import { scannedRows, windowRows } from "../../kit/claims/due-keys.ts";
import { dueRanges } from "./due-column.ts";
import { Parameters, type SqlStatement } from "./statement.ts";

/** What tells whether something is due. */
export interface DueClock {
  /** What gives the time: it may use `?1`. */
  readonly now: string;
  readonly time: EpochMs | null;
  readonly overdueMs: number;
}

/** Adds a parameter with this value, and gives its name. */
type Bind = Parameters["bind"];

/** Makes a statement for what is due at once, and one for what has a time: one for both would have to sort. */
export function dueStatements(when: DueClock, textOf: (isDue: string, bind: Bind) => string): SqlStatement[] {
  return [0, 1].map((range) => dueStatement(when, (ranges, bind) => textOf(ranges[range]!, bind)));
}

/** The rows that are due, longest first. @param which a condition that names the index */
export function rowsDueFirst(columns: string, which: string, isDue: string, limit: string): string {
  return `SELECT ${columns} FROM executions WHERE ${which} AND ${isDue} ORDER BY due_at, seq LIMIT ${limit}`;
}

/** The keys of the longest due executions with a permit, each with the number of these. */
export function dueKeysSql(columns: string, isDue: string, bind: Bind): string {
  const longest = rowsDueFirst("permit_key, permit_limit, due_at", "permit_key IS NOT NULL", isDue, bind(windowRows));
  return `SELECT ${columns}, min(due_at) AS due_at, count(*) AS rows FROM (${longest}) GROUP BY permit_key`;
}

/** Whether something with a permit is due. */
export function areKeysDueStatement(when: DueClock): SqlStatement {
  const isDue = (range: string): string => `EXISTS (SELECT 1 FROM executions WHERE permit_key IS NOT NULL AND ${range})`;
  return dueStatement(when, (ranges) => `SELECT ${ranges.map(isDue).join(" OR ")} AS areKeysDue`);
}

/**
 * Goes from key to key by the index, and gives each with the limit of the one that is due longest, or null if nothing of it is
 * due. However many executions wait for one key, it is looked at once.
 */
export function scanOfKeys(when: DueClock, columns: string, after: string): SqlStatement {
  const next = (than: string): string =>
    `SELECT min(permit_key) FROM executions WHERE permit_key IS NOT NULL AND due_at IS NOT NULL AND permit_key > ${than}`;
  const first = (range: string): string =>
    `(SELECT permit_limit FROM executions WHERE permit_key = keys.key AND ${range} ORDER BY due_at, seq LIMIT 1)`;
  return dueStatement(
    when,
    (ranges, bind) => `
    WITH RECURSIVE keys (key) AS (${next(bind(after))} UNION ALL SELECT (${next("keys.key")}) FROM keys WHERE key IS NOT NULL LIMIT ${scannedRows + 1})
    SELECT ${columns} FROM (SELECT key AS permit_key, coalesce(${ranges.map(first).join(", ")}) AS permit_limit FROM keys WHERE key IS NOT NULL LIMIT ${scannedRows})`,
  );
}

function dueStatement(
  { now, time, overdueMs }: DueClock,
  textOf: (ranges: readonly [atOnce: string, timed: string], bind: Bind) => string,
): SqlStatement {
  const { bind, values } = new Parameters(time);
  return { text: textOf(dueRanges(now, overdueMs === 0 ? null : bind(overdueMs)), bind), values };
}
