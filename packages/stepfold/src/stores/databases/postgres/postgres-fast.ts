import { guardColumns } from "../../kit/columns.ts";
import { clock, columnsAsText } from "./postgres-text.ts";

/**
 * Claims what is due without a permit in one statement, and tells whether something with one is due. Values: the owner, the lease,
 * how many, overdue for how long, and what fences rise by.
 *
 * Rows that another transaction has locked are passed over. One that was changed since the statement began is looked at again as
 * it is now before it is locked: what another process claimed meanwhile is due no longer. It gives at least one row.
 */
export function claimDueStatement(executions: string): string {
  const isDue = "due_at <= (SELECT now FROM clock) - $4::bigint";
  return `
    WITH ${clock},
    due AS MATERIALIZED (
      SELECT seq, due_at FROM ${executions} WHERE permit_key IS NULL AND ${isDue} ORDER BY due_at, seq LIMIT $3::bigint FOR UPDATE SKIP LOCKED
    ),
    taken AS (
      UPDATE ${executions} SET crashes = crashes + CASE WHEN owner IS NULL THEN 0 ELSE 1 END, owner = $1, fence = fence + $5::bigint, due_at = now + $2::bigint
      FROM clock WHERE seq = ANY(ARRAY(SELECT seq FROM due)) RETURNING executions.*
    )
    SELECT clock.now::text, are_keys_due, ${columnsAsText(guardColumns, "taken")}
    FROM clock LEFT JOIN (
      SELECT 't' AS are_keys_due FROM ${executions} WHERE permit_limit IS NOT NULL AND ${isDue} ORDER BY due_at, seq LIMIT 1
    ) AS keys ON true LEFT JOIN (taken JOIN due ON due.seq = taken.seq) ON true ORDER BY due.due_at, due.seq`;
}
