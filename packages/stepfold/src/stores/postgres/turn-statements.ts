import { arrival } from "./sql-parts.ts";

/** Statements that claim executions with a permit. */
export interface TurnStatements {
  /** Of any key: $1 owner, $2 lease, $3 how many, $4 and $5 the span of what is due, $6 the key after which to look on. */
  readonly claimTurns: string;
  /** Of one key, $6. */
  readonly claimLine: string;
  /** The one with the id $3. */
  readonly claimTurn: string;
  /** What `renew` left: a claim whose lease has ended. */
  readonly renewTurn: string;
}

/** How a claim is written, and what it returns. */
export interface ClaimParts {
  readonly taken: string;
  readonly returned: string;
  readonly columns: string;
}

/** Of the longest due: where there are fewer, no key is missing among them. */
const window = 200;

/** Keys that one statement looks at, where there are more. */
const mostKeys = 500;

/** All of it is judged by one time, not later than what the statement sees: no lease that has ended by then was prolonged before. */
const clock = `clock AS MATERIALIZED (SELECT ${arrival} AS now)`;

const span = "due_at >= $4::bigint AND due_at <= (SELECT now FROM clock) - $5::bigint";

/**
 * Writes them for one schema.
 *
 * What looks at all keys says `permit_limit`, and what looks for one says `permit_key`: so each can only use the index that
 * is made for it, even if the planner knows of no permits yet.
 *
 * Who has a permit stands in one row of `permits` for each key, and nothing but a claim writes it. Three steps, in this order:
 *
 * 1. Executions are locked that seem to be free, as things stood when the statement began. What is held, or locked, is
 *    passed over: nobody waits for an execution while having a row of `permits`.
 * 2. The rows of `permits` are locked, in order of key, and looked at as they are now (ON CONFLICT does so also for one that
 *    came after the statement began): who claims the same key at the same moment waits here, and counts those before.
 * 3. Executions that were let in are claimed. They are locked, so all of them will be.
 */
export function turnStatements(schema: string, parts: ClaimParts): TurnStatements {
  return {
    claimTurns: claiming(schema, parts, `${anyKeys(schema)}, ${wantedOf(schema)}`, `, is_full, after`, scanned),
    claimLine: claiming(schema, parts, `keys AS (SELECT $6::text AS key, 1 AS place), ${wantedOf(schema)}`),
    claimTurn: claiming(
      schema,
      parts,
      `wanted AS MATERIALIZED (
        SELECT seq, permit_key AS key, permit_limit, fence, due_at FROM ${schema}.executions AS one
        WHERE id = $3 AND due_at + 0 >= $4::bigint AND due_at + 0 <= (SELECT now FROM clock) - $5::bigint AND coalesce(permit_limit, 0) > (
          SELECT count(*) FROM ${schema}.permits AS p, ${live(schema)} AND p.key = one.permit_key)
        FOR UPDATE
      )`,
    ),
    renewTurn: lateRenewal(schema),
  };
}

/**
 * Those of a row `p` of `permits` whose claims still hold.
 *
 * The row may be newer than what the statement sees of the executions. One that shows an older fence, or none, was claimed
 * since; it counts as long as that claim lasts at least.
 */
export function live(schema: string, now = "(SELECT now FROM clock)"): string {
  return `unnest(p.executions, p.fences, p.untils) AS holder (seq, fence, until)
      LEFT JOIN ${schema}.executions AS seen ON seen.seq = holder.seq
      WHERE CASE WHEN seen.fence > holder.fence THEN false
        WHEN seen.fence = holder.fence THEN seen.owner IS NOT NULL AND greatest(seen.lease_until, holder.until) > ${now}
        ELSE holder.until > ${now} END`;
}

/** @param wanted ends with the part `wanted`: executions that are locked */
function claiming(schema: string, { taken, returned, columns }: ClaimParts, wanted: string, more = "", from = ""): string {
  const claimed = "taken JOIN (SELECT seq, due_at FROM wanted) AS due USING (seq)";
  return `
    WITH RECURSIVE ${clock},
    ${wanted},
    -- whoever has as many before it as its own limit, or comes after one who has, is not let in
    ranked AS MATERIALIZED (
      SELECT seq, key, fence + 1 AS fence, now + $2::bigint AS until,
        min(permit_limit - place) OVER (PARTITION BY key ORDER BY place) AS room
      FROM clock, (SELECT *, row_number() OVER (PARTITION BY key ORDER BY due_at, seq) - 1 AS place FROM wanted) AS placed
    ),
    ${given(schema)},
    taken AS (
      UPDATE ${schema}.executions SET ${taken} FROM clock
      WHERE ${letIn}
      RETURNING ${returned}
    )
    SELECT taken.${columns}${more} FROM ${from === "" ? claimed : `${from} LEFT JOIN (${claimed}) ON true`} ORDER BY due.due_at, due.seq`;
}

/** Puts those of `ranked` for whom there is room among the holders of their key. */
function given(schema: string): string {
  return `given AS (
      INSERT INTO ${schema}.permits AS p (key, executions, fences, untils)
      SELECT key, array_agg(seq), array_agg(fence), array_agg(until) FROM ranked WHERE room > 0 GROUP BY key ORDER BY key
      ON CONFLICT (key) DO UPDATE SET (executions, fences, untils) = (
        SELECT coalesce(array_agg(seq), '{}'), coalesce(array_agg(fence), '{}'), coalesce(array_agg(until), '{}')
        FROM (
          SELECT *, count(*) FILTER (WHERE room IS NULL) OVER () AS held
          FROM (
            SELECT holder.seq, holder.fence, holder.until, NULL::bigint AS room FROM ${live(schema)}
            UNION ALL SELECT seq, fence, until, room FROM ranked WHERE ranked.key = p.key) AS each) AS counted
        WHERE room IS NULL OR room > held)
      RETURNING executions, fences
    )`;
}

const letIn = "seq = ANY(ARRAY(SELECT seq FROM given, unnest(executions, fences) AS holder (seq, fence) JOIN ranked USING (seq, fence)))";

/** A claim whose lease has ended takes its place once more, if there is one. */
function lateRenewal(schema: string): string {
  return `
    WITH ${clock},
    ranked AS MATERIALIZED (
      SELECT seq, permit_key AS key, fence, (SELECT now FROM clock) + $4::bigint AS until, permit_limit AS room FROM ${schema}.executions
      WHERE id = $1 AND incarnation = $2 AND fence = $3::bigint AND owner IS NOT NULL AND coalesce(permit_limit, 0) > 0
      FOR UPDATE
    ),
    ${given(schema)}
    UPDATE ${schema}.executions SET lease_until = now + $4::bigint, due_at = now + $4::bigint FROM clock WHERE ${letIn}
    RETURNING version::text, status, now::text`;
}

/** Of each key in `keys` as many as seem to be free. Where the longest due has to wait, so do all after it. */
function wantedOf(schema: string): string {
  const line = (columns: string): string => `
        SELECT ${columns} FROM ${schema}.executions WHERE permit_key = keys.key AND ${span} ORDER BY due_at, seq`;
  return `wanted AS MATERIALIZED (
      SELECT locked.*
      FROM (SELECT * FROM keys ORDER BY place) AS keys,
      LATERAL (SELECT count(*) AS held FROM ${schema}.permits AS p, ${live(schema)} AND p.key = keys.key) AS holders,
      LATERAL (${line("permit_limit")} LIMIT 1) AS head,
      LATERAL (
        SELECT max(permit_limit) - held AS free FROM (${line("permit_limit")} LIMIT CASE WHEN head.permit_limit > held THEN $3::bigint ELSE 0 END) AS next
      ) AS room,
      LATERAL (${line("seq, permit_key AS key, permit_limit, fence, due_at")}
        LIMIT coalesce(free, 0) FOR UPDATE SKIP LOCKED) AS locked
      LIMIT $3::bigint
    )`;
}

/**
 * Keys of the longest due. Where so many are due that not all keys may be among those, it goes from key to key instead, from
 * where the last claim stopped, past all who wait for one of them.
 */
function anyKeys(schema: string): string {
  // those that are not due yet go last: a planner that guesses how many are due would rather read and sort them all
  return `first AS MATERIALIZED (
      SELECT * FROM (
        SELECT permit_key AS key, due_at, seq FROM ${schema}.executions WHERE permit_limit IS NOT NULL AND due_at >= $4::bigint
        ORDER BY due_at, seq LIMIT ${window}) AS next
      WHERE due_at <= (SELECT now FROM clock) - $5::bigint
    ),
    walk (key, place) AS (
      SELECT $6::text COLLATE "C", 0 WHERE (SELECT count(*) FROM first) = ${window}
      UNION ALL
      SELECT (
        SELECT permit_key FROM ${schema}.executions WHERE permit_key > walk.key AND due_at IS NOT NULL
        ORDER BY permit_key LIMIT 1), place + 1
      FROM walk WHERE key IS NOT NULL AND place < ${mostKeys}
    ),
    keys AS MATERIALIZED (
      SELECT key, row_number() OVER (ORDER BY min(due_at), min(seq)) AS place FROM first
      WHERE (SELECT count(*) FROM first) < ${window} GROUP BY key
      UNION ALL SELECT key, place FROM walk WHERE key IS NOT NULL AND place > 0
    )`;
}

/** How far it went: `after` is the last key that was looked at, or null where it was the last of all. */
const scanned = `(
      SELECT CASE WHEN EXISTS (SELECT FROM walk) THEN 't' END AS is_full,
        CASE WHEN (SELECT count(*) FROM wanted) < $3::bigint THEN (SELECT key FROM walk ORDER BY place DESC LIMIT 1)
          ELSE (SELECT max(key) FROM wanted) END AS after
    ) AS scanned`;
