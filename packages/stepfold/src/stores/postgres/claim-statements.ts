import { dueAtSql } from "../sql/due-at.ts";
import { clock } from "./sql-parts.ts";
import { type TurnStatements, turnStatements } from "./turn-statements.ts";

/** Statements about who holds an execution. */
export interface ClaimStatements extends TurnStatements {
  readonly claimDue: string;
  readonly claimOne: string;
  readonly renew: string;
  readonly release: string;
}

/**
 * Writes them for one schema, in quotes.
 *
 * `claimDue` and `claimOne` take executions without a permit. Both answer with one row at least, which tells in `turns`
 * whether there is something due among those with one: to look after these is a statement of its own.
 */
export function claimStatements(schema: string): ClaimStatements {
  // whoever had it until now was lost
  const taken = `crashes = crashes + CASE WHEN owner IS NULL THEN 0 ELSE 1 END,
      owner = $1, fence = fence + 1, lease_until = now + $2::bigint, due_at = now + $2::bigint`;
  const returned = "seq, id, incarnation, fence, crashes, now";
  const columns = "seq::text, id, incarnation, fence::text, crashes::text, now::text";
  const span = "due_at >= $4::bigint AND due_at <= (SELECT now FROM clock) - $5::bigint";
  // of what is found by its id: see `statementsOf`
  const dueNow = "due_at + 0 >= $4::bigint AND due_at + 0 <= now - $5::bigint";
  return {
    // Rows that others hold are passed over. One that was changed since the statement began is looked at again as it is
    // now before it is locked: what another one claimed meanwhile is due no longer.
    claimDue: `
      WITH ${clock},
      due AS MATERIALIZED (
        SELECT seq, due_at FROM ${schema}.executions WHERE permit_key IS NULL AND ${span}
        ORDER BY due_at, seq LIMIT $3::bigint FOR UPDATE SKIP LOCKED
      ),
      taken AS (
        UPDATE ${schema}.executions SET ${taken} FROM clock WHERE seq = ANY(ARRAY(SELECT seq FROM due))
        RETURNING ${returned}
      )
      SELECT taken.${columns}, turns
      FROM (
        SELECT (SELECT 't' FROM ${schema}.executions WHERE permit_limit IS NOT NULL AND ${span} ORDER BY due_at, seq LIMIT 1) AS turns
      ) AS others LEFT JOIN (taken JOIN due USING (seq)) ON true ORDER BY due.due_at, due.seq`,
    // waits for whoever writes it now: passed over, it would wait for the next sweep
    claimOne: `
      WITH ${clock},
      taken AS (
        UPDATE ${schema}.executions SET ${taken} FROM clock WHERE id = $3 AND coalesce(permit_limit, 0) = 0 AND ${dueNow}
        RETURNING ${returned}
      )
      SELECT ${columns}, turns
      FROM (
        SELECT (SELECT 't' FROM clock, ${schema}.executions WHERE id = $3 AND coalesce(permit_limit, 0) > 0 AND ${dueNow}) AS turns
      ) AS others LEFT JOIN taken ON true`,
    ...turnStatements(schema, { taken, returned, columns }),
    renew: `
      WITH ${clock}
      UPDATE ${schema}.executions SET lease_until = now + $4::bigint, due_at = now + $4::bigint FROM clock
      WHERE id = $1 AND incarnation = $2 AND fence = $3::bigint AND owner IS NOT NULL
        AND (coalesce(permit_limit, 0) = 0 OR lease_until > now)
      RETURNING version::text, status, now::text`,
    release: `
      WITH ${clock}
      UPDATE ${schema}.executions SET owner = NULL, lease_until = NULL, due_at = ${dueAtSql("wake_at", "now")} FROM clock
      WHERE id = $1 AND incarnation = $2 AND fence = $3::bigint AND owner IS NOT NULL AND version = $4::bigint
      RETURNING seq::text`,
  };
}
