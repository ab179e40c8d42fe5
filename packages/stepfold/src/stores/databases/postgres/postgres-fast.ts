import { guardColumns, wholeRowSql } from "../../kit/columns.ts";
import { clock, columnsAsText } from "./postgres-text.ts";

/**
 * Returns the statement that claims due executions without a permit, and tells which executions with one are due (see `KeyedDue`; null: none). Values: `$1` the
 * owner, `$2` the lease in milliseconds, `$3` the limit, `$4` how many milliseconds an execution must have been due, `$5` by how much
 * fences rise. The answer has at least one row, because it also brings the time.
 *
 * Rows that another transaction has locked are skipped. If a row has changed since the statement began, PostgreSQL checks the condition
 * again with the current state of the row: an execution that another process has claimed meanwhile is no longer due, and is left out.
 */
export function claimDueStatement(executions: string): string {
  const since = "(SELECT now FROM clock) - $4::bigint";
  const isDue = `due_at <= ${since}`;
  return `
    WITH ${clock},
    due AS MATERIALIZED (
      SELECT seq, due_at FROM ${executions} WHERE permit_key IS NULL AND ${isDue} AND ${wholeRowSql} ORDER BY due_at, seq LIMIT $3::bigint FOR UPDATE SKIP LOCKED
    ),
    taken AS (
      UPDATE ${executions} SET crashes = crashes + CASE WHEN owner IS NULL THEN 0 ELSE 1 END, owner = $1, fence = fence + $5::bigint, due_at = now + $2::bigint
      FROM clock WHERE seq = ANY(ARRAY(SELECT seq FROM due)) RETURNING executions.*
    )
    SELECT clock.now::text, keyed_due, ${columnsAsText(guardColumns, "taken")}
    FROM clock LEFT JOIN (
      SELECT CASE WHEN (SELECT min(exempt_at) FROM ${executions}) <= greatest(0, ${since}) THEN 'exempt' ELSE 'some' END AS keyed_due
      FROM ${executions} WHERE permit_limit IS NOT NULL AND ${isDue} ORDER BY due_at, seq LIMIT 1
    ) AS keys ON true LEFT JOIN (taken JOIN due ON due.seq = taken.seq) ON true ORDER BY due.due_at, due.seq`;
}
