import { scannedKeys, windowRows } from "../../kit/claims/due-keys.ts";
import type { DueQuery } from "../../kit/execution-table.ts";
import { dueOrder, dueRanges } from "./due-column.ts";
import type { Parameters } from "./statement.ts";

/** What is due, longest first, and whether something with a permit is: in a row without an execution if nothing is due. */
export function dueSql(parameters: Parameters, now: string, columns: string, { key, limit, overdueMs }: DueQuery): string {
  const { bind } = parameters;
  const which = key === null ? "permit_key IS NULL" : `permit_key = ${bind(key)}`;
  const rows = dueRowsSql(which, bind, now, limit, overdueMs);
  const isDueWithKey = (range: string): string => `EXISTS (SELECT 1 FROM executions WHERE permit_key IS NOT NULL AND ${range})`;
  const areKeysDue = key === null ? dueRanges(now, overdueOf(overdueMs, bind)).map(isDueWithKey).join(" OR ") : "NULL";
  return `SELECT areKeysDue, ${columns} FROM (SELECT ${areKeysDue} AS areKeysDue) LEFT JOIN (${rows}) ON true ORDER BY ${dueOrder}`;
}

/** The longest due of those with a permit. */
export function dueWindowSql({ bind }: Parameters, now: string, overdueMs: number): string {
  return dueRowsSql("permit_key IS NOT NULL", bind, now, windowRows, overdueMs);
}

/**
 * Goes from key to key by the index, and gives each with the limit of the one that is due longest, or null if nothing of it is
 * due. However many executions wait for one key, it is looked at once.
 */
export function keyScanSql({ bind }: Parameters, now: string, after: string, overdueMs: number): string {
  const next = (than: string): string =>
    `SELECT min(permit_key) FROM executions WHERE permit_key IS NOT NULL AND due_at IS NOT NULL AND permit_key > ${than}`;
  const first = (range: string): string =>
    `(SELECT permit_limit FROM executions WHERE permit_key = keys.key AND ${range} ORDER BY due_at, seq LIMIT 1)`;
  return `
    WITH RECURSIVE keys (key) AS (${next(bind(after))} UNION ALL SELECT (${next("keys.key")}) FROM keys WHERE key IS NOT NULL LIMIT ${scannedKeys + 1})
    SELECT key AS permit_key, coalesce(${dueRanges(now, overdueOf(overdueMs, bind)).map(first).join(", ")}) AS permit_limit FROM keys WHERE key IS NOT NULL LIMIT ${scannedKeys}`;
}

function dueRowsSql(which: string, bind: Parameters["bind"], now: string, limit: number, overdueMs: number): string {
  const most = bind(limit);
  const parts = dueRanges(now, overdueOf(overdueMs, bind)).map(
    (range) => `SELECT * FROM (SELECT * FROM executions WHERE ${which} AND ${range} ORDER BY due_at, seq LIMIT ${most})`,
  );
  return `SELECT * FROM (${parts.join(" UNION ALL ")}) ORDER BY ${dueOrder} LIMIT ${most}`;
}

function overdueOf(overdueMs: number, bind: Parameters["bind"]): string | null {
  return overdueMs === 0 ? null : bind(overdueMs);
}
