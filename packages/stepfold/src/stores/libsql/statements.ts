import { statement } from "../databases/libsql/libsql-client.ts";
import { dueAtSql } from "../sql/due-at.ts";
import {
  changeStatement,
  definitionStatement,
  endedStatement,
  executionStatement,
  putDefinitionStatement,
  rowsStatement,
  terminalStatuses,
} from "../sql/sqlite-statements.ts";
import { dueStatements, isFreeSql, lapseStatement } from "../sql/sqlite-turns.ts";

/** The time that is given, or that of the database: a server is another machine. */
export const clock = (given: string): string => `coalesce(${given}, CAST(round(unixepoch('subsec') * 1000) AS INTEGER))`;

/**
 * The row that a commit may change, or none: every statement of a commit asks for it, and the one that changes it is the
 * last. Parameters: id, incarnation, expected version, fence.
 */
const guarded = `FROM executions
    WHERE id = ?1 AND incarnation = ?2 AND executions.version = ?3 AND status NOT IN ${terminalStatuses}
      AND (?4 IS NULL OR (fence = ?4 AND owner IS NOT NULL))`;

/** The row that a creation has just made: it has no history. Parameters: id, incarnation. */
const created = `FROM executions WHERE id = ?1 AND incarnation = ?2
    AND NOT EXISTS (SELECT 1 FROM events WHERE events.execution = seq AND events.version = 0)`;

const ended = `FROM executions WHERE id = ?1 AND status IN ${terminalStatuses}`;

/** What there is of executions of which a JSON array gives the numbers, and which an owner holds. */
const held = "execution IN (SELECT seq FROM json_each(?1) AS wanted JOIN executions ON seq = wanted.value WHERE owner = ?2)";

const found = dueStatements(clock("?1"), (column) => `json_quote(${column})`);

/** Claims. Parameters: 1 the time, 2 from, 3 how long before now, 6 owner, 7 lease in ms. */
const take = (which: string): string => `
    UPDATE executions SET crashes = crashes + (owner IS NOT NULL), owner = ?6, fence = fence + 1,
      lease_until = ${clock("?1")} + ?7, due_at = ${clock("?1")} + ?7
    WHERE ${which} AND due_at BETWEEN ?2 AND ${clock("?1")} - ?3
    RETURNING seq, json_quote(id) AS key, incarnation, version AS place, status, head AS text, fence, crashes, lease_until - ?7 AS claimedAt`;

type StatementName =
  | "change"
  | "appendEvent"
  | "putChild"
  | "deleteChild"
  | "forgetOne"
  | "tombstone"
  | "createExecution"
  | "createEvent"
  | "createChild"
  | "verdict"
  | "execution"
  | "snapshot"
  | "rows"
  | "due"
  | "dueOne"
  | "waitingAfter"
  | "waitingFor"
  | "turns"
  | "lapse"
  | "take"
  | "takeOne"
  | "takeTurns"
  | "heldEvents"
  | "heldChildren"
  | "renew"
  | "release"
  | "status"
  | "bury"
  | "deleteEvents"
  | "deleteChildren"
  | "deleteExecution"
  | "countEnded"
  | "buryEnded"
  | "deleteEndedEvents"
  | "deleteEndedChildren"
  | "deleteEnded"
  | "forgetExpired"
  | "putDefinition"
  | "definition"
  | "now";

/**
 * Every statement, as a function of its parameters. Ids and keys come back as JSON, because the driver cuts text at a zero
 * character.
 */
export const sql: Readonly<Record<StatementName, ReturnType<typeof statement>>> = {
  change: statement(changeStatement(clock("?4"))),
  appendEvent: statement(`INSERT INTO events (execution, version, commit_id, event) SELECT seq, ?5, ?6, ?7 ${guarded}`),
  putChild: statement(`
    INSERT INTO children (execution, key, head) SELECT seq, ?5, ?6 ${guarded}
    ON CONFLICT (execution, key) DO UPDATE SET head = excluded.head`),
  deleteChild: statement(`DELETE FROM children WHERE key = ?5 AND execution = (SELECT seq ${guarded})`),

  forgetOne: statement(`DELETE FROM tombstones WHERE id = ?1 AND deleted_at <= ${clock("?3")} - ?2`),
  tombstone: statement("SELECT deleted_at AS deletedAt FROM tombstones WHERE id = ?1"),
  createExecution: statement(`
    INSERT INTO executions (id, incarnation, definition_id, definition, metadata, version, status, head,
      wake_at, due_at, owner, fence, lease_until, created_at, updated_at, ended_at,
      permit_key, permit_limit)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
      ?9, coalesce(now + ?11, ${dueAtSql("?9", "now")}), ?10, ?10 IS NOT NULL, now + ?11, now, now, CASE WHEN ?7 IN ${terminalStatuses} THEN now END,
      ?13, ?14
    FROM (SELECT ${clock("?12")} AS now) WHERE NOT EXISTS (SELECT 1 FROM tombstones WHERE id = ?1)
    ON CONFLICT (id) DO NOTHING`),
  createEvent: statement(`INSERT INTO events (execution, version, commit_id, event) SELECT seq, ?3, ?4, ?5 ${created}`),
  createChild: statement(`INSERT INTO children (execution, key, head) SELECT seq, ?3, ?4 ${created}`),

  // ?2: the version whose writer is asked for
  verdict: statement(`
    SELECT incarnation, executions.version, status, owner, fence, lease_until AS leaseUntil, ${clock("?3")} AS now,
      (SELECT commit_id FROM events WHERE events.execution = seq AND events.version = ?2) AS writer
    FROM executions WHERE id = ?1`),
  execution: statement(executionStatement),

  // one statement sees one state of the data, and needs no transaction. Parts: 0 the execution, 1 its events, 2 its children
  snapshot: statement(`
    SELECT 0 AS part, version AS place, status, json_quote(id) AS key, head AS text FROM executions WHERE id = ?1
    UNION ALL
    SELECT 1, version, NULL, NULL, event FROM events WHERE execution = (SELECT seq FROM executions WHERE id = ?1)
    UNION ALL
    SELECT 2, place, NULL, json_quote(key), head FROM children WHERE execution = (SELECT seq FROM executions WHERE id = ?1)
    ORDER BY part, place`),
  rows: statement(rowsStatement),

  // those without a permit, and then those with one, of which key is not null
  due: statement(`
    SELECT * FROM (
      SELECT *, NULL AS key, NULL AS isOpen FROM (${found.plain}) UNION ALL SELECT * FROM (${found.waiting}))
    ORDER BY key IS NOT NULL, dueAt, seq`),
  dueOne: statement(found.one),
  waitingAfter: statement(found.waitingAfter),
  waitingFor: statement(found.waitingFor),
  turns: statement(found.turns),
  // ?2: JSON array of seq
  lapse: statement(
    lapseStatement(clock("?1"), "SELECT permit_key FROM json_each(?2) AS wanted CROSS JOIN executions ON seq = wanted.value"),
  ),
  // ?4: JSON array of seq. Each is judged again: somebody else may have been faster, and a number may mean another execution by now
  take: statement(take("seq IN (SELECT value FROM json_each(?4)) AND permit_key IS NULL")),
  takeOne: statement(take(`seq IN (SELECT value FROM json_each(?4)) AND id = ?5 AND ${isFreeSql(clock("?1"))}`)),
  // ?5: how many
  takeTurns: statement(
    take(`seq IN (SELECT value FROM json_each(?4)) AND seq IN (SELECT seq FROM (${found.turns})) AND (?8 IS NULL OR permit_key = ?8)`),
  ),
  heldEvents: statement(`SELECT execution, event AS text FROM events WHERE ${held} ORDER BY execution, version`),
  heldChildren: statement(`SELECT execution, json_quote(key) AS key, head AS text FROM children WHERE ${held} ORDER BY execution, place`),
  // ?4: lease in ms
  renew: statement(`
    UPDATE executions SET lease_until = ${clock("?5")} + ?4, due_at = ${clock("?5")} + ?4
    WHERE id = ?1 AND incarnation = ?2 AND fence = ?3 AND owner IS NOT NULL
    RETURNING version, status, lease_until - ?4 AS storeNow`),
  release: statement(`
    UPDATE executions SET owner = NULL, lease_until = NULL, due_at = ${dueAtSql("wake_at", clock("?5"))}
    WHERE id = ?1 AND incarnation = ?2 AND fence = ?3 AND owner IS NOT NULL AND version = ?4`),

  status: statement("SELECT status FROM executions WHERE id = ?1"),
  bury: statement(`
    INSERT OR REPLACE INTO tombstones (id, incarnation, status, output, deleted_at)
    SELECT id, incarnation, status, CASE WHEN json_valid(head) THEN head -> '$.output' END, ${clock("?2")} ${ended}`),
  deleteEvents: statement(`DELETE FROM events WHERE execution = (SELECT seq ${ended})`),
  deleteChildren: statement(`DELETE FROM children WHERE execution = (SELECT seq ${ended})`),
  deleteExecution: statement(`DELETE ${ended}`),

  countEnded: statement(`
    WITH ended AS (${endedStatement})
    SELECT (SELECT count(*) FROM ended) AS executions, (SELECT count(*) FROM events WHERE execution IN ended) AS events`),
  buryEnded: statement(`
    INSERT OR REPLACE INTO tombstones (id, incarnation, status, output, deleted_at)
    SELECT id, incarnation, status, CASE WHEN json_valid(head) THEN head -> '$.output' END, ${clock("?5")}
    FROM executions WHERE seq IN (${endedStatement})`),
  deleteEndedEvents: statement(`DELETE FROM events WHERE execution IN (${endedStatement})`),
  deleteEndedChildren: statement(`DELETE FROM children WHERE execution IN (${endedStatement})`),
  deleteEnded: statement(`DELETE FROM executions WHERE seq IN (${endedStatement})`),
  forgetExpired: statement(`DELETE FROM tombstones WHERE deleted_at <= ${clock("?2")} - ?1`),

  putDefinition: statement(putDefinitionStatement),
  definition: statement(definitionStatement),
  now: statement(`SELECT ${clock("?1")} AS now`),
};
