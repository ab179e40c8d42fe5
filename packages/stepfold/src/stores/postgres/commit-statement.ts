import { dueAtSql } from "../sql/due-at.ts";
import { clock, list, nullable, numbers, terminal } from "./sql-parts.ts";

/** What a statement writes. A lone commit without children, the common one, is the cheapest to plan. */
export interface CommitShape {
  readonly several: boolean;
  readonly children: boolean;
}

const wantedOne = `
  SELECT 1::bigint AS ordinal, $1::text AS id, $2::text AS incarnation, $3::bigint AS expected, $4::bigint AS fence,
    $5::bigint AS version, $6::text AS status, $7::text AS head, $8::bigint AS wake_at, $9::text AS frees, $10::text AS commit_id`;

const wantedSeveral = `
  SELECT * FROM unnest(${list(1)}, ${list(2)}, ${numbers(3)}, ${numbers(4)}, ${numbers(5)}, ${list(6)}, ${list(7)}, ${numbers(8)},
    ${list(9)}, ${list(10)}) WITH ORDINALITY AS each (id, incarnation, expected, fence, version, status, head, wake_at, frees, commit_id, ordinal)`;

/**
 * Writes commits that still follow what is stored, and tells which.
 *
 * Several lock their heads first, in order of id: so two groups never wait for one another. Both the lock and the guard
 * of the UPDATE wait for whoever is writing a row, and then look at it again as it is now (READ COMMITTED does so for the
 * row that is written, and for no other): of two commits on one version the second finds another version and writes
 * nothing. What is inserted depends on what the UPDATE gave back, so events and children come with their head or not at all.
 */
export function commitStatement(schema: string, { several, children }: CommitShape): string {
  const locked = `
    locked AS MATERIALIZED (
      SELECT e.seq, wanted.* FROM wanted JOIN ${schema}.executions AS e USING (id) ORDER BY e.id FOR UPDATE OF e
    ),`;
  return `
    WITH ${clock},
    wanted AS ${several ? "MATERIALIZED " : ""}(${several ? wantedSeveral : wantedOne}),${several ? locked : ""}
    changed AS (
      UPDATE ${schema}.executions AS e SET version = w.version, head = w.head::json, wake_at = w.wake_at, updated_at = now, status = w.status,
        ended_at = CASE WHEN w.status IN ${terminal} THEN now END,
        due_at = CASE WHEN w.frees = 't' THEN ${dueAtSql("w.wake_at", "now")}
          WHEN e.owner IS NULL THEN ${dueAtSql("w.wake_at", "now", "e.due_at")} ELSE e.due_at END,
        owner = CASE WHEN w.frees = 't' THEN NULL ELSE e.owner END,
        lease_until = CASE WHEN w.frees = 't' THEN NULL ELSE e.lease_until END,
        crashes = CASE WHEN w.fence IS NULL THEN e.crashes ELSE 0 END
      FROM clock, ${several ? "locked AS w WHERE e.seq = w.seq" : "wanted AS w WHERE e.id = w.id"}
        AND e.incarnation = w.incarnation AND e.version = w.expected AND e.status NOT IN ${terminal}
        AND (w.fence IS NULL OR (e.fence = w.fence AND e.owner IS NOT NULL))
      RETURNING e.seq, w.ordinal, w.commit_id
    ),
    appended AS (
      INSERT INTO ${schema}.events (execution, version, commit_id, event)
      SELECT seq, entry.version, commit_id, entry.event::json
      FROM changed JOIN unnest(${numbers(11)}, ${numbers(12)}, ${list(13)}) AS entry (ordinal, version, event) USING (ordinal)
    )${children ? `, ${changedChildren(schema)}` : ""}
    SELECT ordinal::text FROM changed`;
}

/**
 * Children that were deleted and put again get the new place; a DELETE and an INSERT of one row cannot be in one
 * statement. Places are given out in the order of the commit, before any child is put.
 */
function changedChildren(schema: string): string {
  const put = (which: string, change: string): string => `
      INSERT INTO ${schema}.children (execution, digest, place, key, head)
      SELECT execution, digest, place, key::json, head::json FROM placed WHERE head IS NOT NULL AND is_last = '${which}'
      ON CONFLICT (execution, digest) DO UPDATE SET ${change}`;
  return `
    placed AS MATERIALIZED (
      SELECT execution, sha256(convert_to(key, 'UTF8')) AS digest, nextval('${schema}.children_place') AS place, key, head, is_last
      FROM (
        SELECT seq AS execution, key, head, is_last
        FROM unnest(${numbers(14)}, ${list(15)}, ${nullable(16)}, ${list(17)}) WITH ORDINALITY AS child (ordinal, key, head, is_last, position)
        JOIN changed USING (ordinal) ORDER BY position) AS child
    ),
    put AS (${put("f", "head = EXCLUDED.head")}),
    put_last AS (${put("t", "head = EXCLUDED.head, place = EXCLUDED.place")}),
    taken_out AS (
      DELETE FROM ${schema}.children USING placed
      WHERE placed.head IS NULL AND children.execution = placed.execution AND children.digest = placed.digest
    )`;
}
