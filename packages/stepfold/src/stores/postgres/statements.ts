import { dueAtSql } from "../sql/due-at.ts";
import { type ClaimStatements, claimStatements } from "./claim-statements.ts";
import { type CommitShape, commitStatement } from "./commit-statement.ts";
import { hidden, unhidden } from "./json-text.ts";
import { sqlSeparator } from "./plain-text.ts";
import { arrival, childrenInsert, clock, list, nullable, numbers, terminal } from "./sql-parts.ts";
import { live } from "./turn-statements.ts";

/** Every statement of the store that does not depend on what is asked for. Each stands for itself: one is one transaction. */
export interface Statements extends ClaimStatements {
  readonly schema: string;
  readonly create: string;
  readonly createWithChildren: string;
  readonly createSeveral: string;
  commit(shape: CommitShape): string;
  readonly guard: string;
  readonly load: string;
  readonly loadMany: string;
  readonly events: string;
  readonly delete: string;
  readonly prune: string;
  readonly countEnded: string;
  readonly putDefinition: string;
  readonly definition: string;
  readonly now: string;
}

/**
 * Writes them for one schema.
 *
 * What looks for one id gives the planner no other index to think of (so no plain `deleted_at IS NULL`, `due_at <= now`):
 * on an empty table another one may seem as good, and a plan that the server keeps outlives the empty table.
 */
export function statementsOf(name: string): Statements {
  const schema = `"${name}"`;
  return {
    schema,
    create: creation(schema, false),
    createWithChildren: creation(schema, true),
    createSeveral: creations(schema),
    commit: (shape) => commitStatement(schema, shape),
    // a row in any case, with the time
    guard: `WITH ${clock}
      SELECT now::text, incarnation, version::text, status, owner, fence::text, lease_until::text, deleted_at::text,
        (SELECT commit_id FROM ${schema}.events WHERE execution = seq AND events.version = $2::bigint) AS writer
      FROM clock LEFT JOIN ${schema}.executions ON id = $1`,
    load: `${snapshots(schema)} WHERE id = $1`,
    loadMany: `${snapshots(schema)} WHERE seq = ANY(${list(1)}::bigint[])`,
    events: `
      SELECT version::text, commit_id, event::text FROM ${schema}.events
      WHERE execution = (SELECT seq FROM ${schema}.executions WHERE id = $1) AND version > $2::bigint
      ORDER BY events.version LIMIT $3::bigint`,
    ...claimStatements(schema),
    ...deletions(schema),
    putDefinition: `
      INSERT INTO ${schema}.definitions (hash, definition) SELECT $1, $2::text::json
      WHERE NOT EXISTS (SELECT FROM ${schema}.definitions WHERE hash = $1) ON CONFLICT DO NOTHING`,
    definition: `SELECT definition::text FROM ${schema}.definitions WHERE hash = $1`,
    now: `WITH ${clock} SELECT now::text FROM clock`,
  };
}

/** Head, history and children as one statement sees them, so of one version. */
function snapshots(schema: string): string {
  const aggregate = (rows: string): string => `array_to_string(ARRAY(${rows}), ${sqlSeparator})`;
  return `
    SELECT seq::text, id, version::text, status, head::text, deleted_at::text,
      ${aggregate(`SELECT event::text FROM ${schema}.events WHERE execution = seq ORDER BY events.version`)} AS events,
      ${aggregate(`SELECT key::text || ${sqlSeparator} || children.head::text FROM ${schema}.children WHERE execution = seq ORDER BY place`)} AS children
    FROM ${schema}.executions`;
}

/**
 * A tombstone lies where the execution lay: whoever creates meets it in the index of ids, and so also one that is just
 * being made. In a table of its own it would be seen as of the beginning of the statement only.
 */
function creation(schema: string, children: boolean): string {
  return `
    WITH ${clock},
    created AS (
      ${creating(schema)}
      SELECT $1, $2, $3, $4::text::json, $5::text::json,
        ARRAY(SELECT sha256(convert_to(label, 'UTF8')) FROM unnest(${list(6)}) AS label),
        $7::bigint, $8, $9::text::json, $10::bigint, CASE WHEN $11::text IS NULL THEN ${dueAtSql("$10::bigint", "now")} ELSE now + $12::bigint END,
        $11::text, CASE WHEN $11::text IS NULL THEN 0 ELSE 1 END, now + $12::bigint, now, now,
        CASE WHEN $8 IN ${terminal} THEN now END, NULL, $17, $18::bigint
      FROM clock
      ${unlessTaken("$13")}
    ),
    appended AS (
      INSERT INTO ${schema}.events (execution, version, commit_id, event)
      SELECT seq, entry.version, $14, entry.event::json
      FROM created, unnest(${numbers(15)}, ${list(16)}) AS entry (version, event)
    )${children ? `, ${childrenInsert(schema, "created", 19)}` : ""}
    SELECT created_at::text AS now FROM created`;
}

/** Several at once, none with children, each with an id of its own; in order of id, so that two groups never wait for one another. */
function creations(schema: string): string {
  return `
    WITH ${clock},
    wanted AS MATERIALIZED (
      SELECT * FROM unnest(${list(1)}, ${list(2)}, ${list(3)}, ${list(4)}, ${list(5)}, ${numbers(6)}, ${list(7)}, ${list(8)}, ${numbers(9)},
        ${nullable(10)}, ${numbers(11)}, ${list(12)}, ${list(19)}, ${numbers(20)}) WITH ORDINALITY
        AS each (id, incarnation, definition_id, definition, metadata, version, status, head, wake_at, owner, lease_ms, commit_id,
          permit_key, permit_limit, ordinal)
    ),
    labelled AS MATERIALIZED (
      SELECT ordinal, array_agg(sha256(convert_to(label, 'UTF8'))) AS labels
      FROM unnest(${numbers(13)}, ${list(14)}) AS each (ordinal, label) GROUP BY ordinal
    ),
    created AS (
      ${creating(schema)}
      SELECT id, incarnation, definition_id, definition::json, metadata::json, coalesce(labels, '{}'), version, status, head::json,
        wake_at, CASE WHEN owner IS NULL THEN ${dueAtSql("wake_at", "now")} ELSE now + lease_ms END, owner, CASE WHEN owner IS NULL THEN 0 ELSE 1 END,
        now + lease_ms, now, now, CASE WHEN status IN ${terminal} THEN now END, NULL, CASE WHEN permit_limit IS NOT NULL THEN permit_key END, permit_limit
      FROM clock, wanted LEFT JOIN labelled USING (ordinal) ORDER BY id
      ${unlessTaken("$15")}
    ),
    appended AS (
      INSERT INTO ${schema}.events (execution, version, commit_id, event)
      SELECT seq, entry.version, commit_id, entry.event::json
      FROM created JOIN wanted USING (id) JOIN unnest(${numbers(16)}, ${numbers(17)}, ${list(18)}) AS entry (ordinal, version, event) USING (ordinal)
    )
    SELECT ordinal::text, created_at::text AS now FROM created JOIN wanted USING (id)`;
}

function creating(schema: string): string {
  return `INSERT INTO ${schema}.executions AS e (id, incarnation, definition_id, definition, metadata, labels, version, status, head,
        wake_at, due_at, owner, fence, lease_until, created_at, updated_at, ended_at, deleted_at, permit_key, permit_limit)`;
}

/** Takes the place of a tombstone whose retention is over, and of nothing else. */
function unlessTaken(retentionMs: string): string {
  return `ON CONFLICT (id) DO UPDATE SET (seq, incarnation, definition_id, definition, metadata, labels, version, status, head,
        wake_at, due_at, owner, fence, lease_until, crashes, created_at, updated_at, ended_at, deleted_at,
        permit_key, permit_limit)
      = (EXCLUDED.seq, EXCLUDED.incarnation, EXCLUDED.definition_id, EXCLUDED.definition, EXCLUDED.metadata, EXCLUDED.labels,
        EXCLUDED.version, EXCLUDED.status, EXCLUDED.head, EXCLUDED.wake_at, EXCLUDED.due_at, EXCLUDED.owner, EXCLUDED.fence,
        EXCLUDED.lease_until, EXCLUDED.crashes, EXCLUDED.created_at, EXCLUDED.updated_at, EXCLUDED.ended_at, NULL,
        EXCLUDED.permit_key, EXCLUDED.permit_limit)
      WHERE e.deleted_at + ${retentionMs}::bigint <= EXCLUDED.created_at
      RETURNING seq, id, created_at`;
}

function deletions(schema: string): Pick<Statements, "delete" | "prune" | "countEnded"> {
  const output = unhidden(`(${hidden("head")} -> 'output')::text`);
  // Found as the statement began: then its last events are seen too, and go with it.
  const bury = `
    buried AS (
      UPDATE ${schema}.executions SET deleted_at = now, ended_at = NULL, metadata = '{}', labels = '{}', permit_key = NULL, permit_limit = NULL,
        head = CASE WHEN json_typeof(head) = 'object' THEN ('{"output":' || coalesce(${output}, 'null') || '}')::json ELSE head END
      FROM clock WHERE seq = ANY(ARRAY(SELECT seq FROM found)) AND coalesce(deleted_at, -1) = -1
      RETURNING seq
    ),
    events_gone AS (DELETE FROM ${schema}.events WHERE execution = ANY(ARRAY(SELECT seq FROM buried)) RETURNING 1),
    children_gone AS (DELETE FROM ${schema}.children WHERE execution = ANY(ARRAY(SELECT seq FROM buried)))`;
  // a key that nobody uses any longer leaves nothing behind; whoever claims meanwhile keeps or makes its row
  const unused = `
    unused AS (
      DELETE FROM ${schema}.permits WHERE key = ANY(ARRAY(
        SELECT key FROM ${schema}.permits AS p
        WHERE key = ANY(ARRAY(SELECT permit_key FROM found WHERE permit_key IS NOT NULL)) AND NOT EXISTS (SELECT FROM ${live(schema, arrival)})
        FOR UPDATE SKIP LOCKED))
    )`;
  const counts = "SELECT (SELECT count(*) FROM buried)::text AS executions, (SELECT count(*) FROM events_gone)::text AS events";
  const ended = `
    SELECT seq, permit_key FROM ${schema}.executions WHERE ended_at < $1::bigint AND status = ANY(${list(2)}) AND ($4::text IS NULL OR definition_id = $4)
    ORDER BY ended_at, seq LIMIT $3::bigint`;
  return {
    delete: `
      WITH ${clock},
      found AS MATERIALIZED (
        SELECT seq, permit_key FROM ${schema}.executions WHERE id = $1 AND status IN ${terminal}
      ), ${bury}, ${unused}
      ${counts}`,
    prune: `
      WITH ${clock},
      found AS MATERIALIZED (${ended} FOR UPDATE SKIP LOCKED), ${bury}, ${unused},
      forgotten AS (DELETE FROM ${schema}.executions USING clock WHERE deleted_at <= now - $5::bigint)
      ${counts}`,
    countEnded: `
      WITH found AS MATERIALIZED (${ended})
      SELECT count(*)::text AS executions,
        (SELECT count(*) FROM ${schema}.events WHERE execution = ANY(ARRAY(SELECT seq FROM found)))::text AS events
      FROM found`,
  };
}
