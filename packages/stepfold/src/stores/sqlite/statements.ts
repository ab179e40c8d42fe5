import type { DatabaseSync, StatementSync } from "node:sqlite";
import { dueAtSql } from "../sql/due-at.ts";
import {
  changeStatement,
  definitionStatement,
  endedStatement,
  executionStatement,
  putDefinitionStatement,
  rowsStatement,
  stepStatement,
} from "../sql/sqlite-statements.ts";
import { dueStatements, lapseStatement } from "../sql/sqlite-turns.ts";

const due = dueStatements("?1");

type StatementName =
  | "begin"
  | "beginReading"
  | "commit"
  | "rollback"
  | "createExecution"
  | "appendEvent"
  | "putChild"
  | "deleteChild"
  | "children"
  | "deleteChildren"
  | "step"
  | "change"
  | "execution"
  | "commitIdAt"
  | "head"
  | "history"
  | "rows"
  | "due"
  | "dueOne"
  | "waiting"
  | "waitingAfter"
  | "waitingFor"
  | "turns"
  | "lapse"
  | "take"
  | "renew"
  | "release"
  | "tombstone"
  | "forget"
  | "forgetExpired"
  | "bury"
  | "deleteExecution"
  | "deleteEvents"
  | "countEvents"
  | "ended"
  | "putDefinition"
  | "definition";

const texts: Readonly<Record<StatementName, string>> = {
  begin: "BEGIN IMMEDIATE",
  beginReading: "BEGIN",
  commit: "COMMIT",
  rollback: "ROLLBACK",

  createExecution: `
    INSERT INTO executions (id, incarnation, definition_id, definition, metadata,
      version, status, head, wake_at, due_at, owner, fence, lease_until, created_at, updated_at, ended_at,
      permit_key, permit_limit)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, ?15, ?16, ?17)
    ON CONFLICT (id) DO NOTHING RETURNING seq`,
  appendEvent: "INSERT INTO events (execution, version, commit_id, event) VALUES (?1, ?2, ?3, ?4)",
  putChild: `
    INSERT INTO children (execution, key, head) VALUES (?1, ?2, ?3)
    ON CONFLICT (execution, key) DO UPDATE SET head = excluded.head`,
  deleteChild: "DELETE FROM children WHERE execution = ?1 AND key = ?2",
  children: "SELECT key, head FROM children WHERE execution = ?1 ORDER BY place",
  deleteChildren: "DELETE FROM children WHERE execution = ?1",

  step: stepStatement("?4"),
  change: changeStatement("?4"),

  execution: executionStatement,
  commitIdAt: "SELECT commit_id AS commitId FROM events WHERE execution = ?1 AND version = ?2",
  head: "SELECT seq, id, incarnation, version, status, head FROM executions WHERE id = ?",
  history: "SELECT event FROM events WHERE execution = ?1 ORDER BY version",
  rows: rowsStatement,

  due: due.plain,
  dueOne: due.one,
  waiting: due.waiting,
  waitingAfter: due.waitingAfter,
  waitingFor: due.waitingFor,
  turns: due.turns,
  lapse: lapseStatement("?2", "SELECT permit_key FROM executions WHERE seq = ?1"),
  // whoever had it until now was lost
  take: `
    UPDATE executions SET crashes = crashes + (owner IS NOT NULL), owner = ?2, fence = fence + 1, lease_until = ?3, due_at = ?3
    WHERE seq = ?1 RETURNING seq, id, incarnation, version, status, head, fence, crashes, permit_key IS NOT NULL AS takesTurns`,
  renew: `
    UPDATE executions SET lease_until = ?4, due_at = ?4 WHERE id = ?1 AND incarnation = ?2 AND fence = ?3 AND owner IS NOT NULL
    RETURNING version, status`,
  release: `
    UPDATE executions SET owner = NULL, lease_until = NULL, due_at = ${dueAtSql("wake_at", "?5")}
    WHERE id = ?1 AND incarnation = ?2 AND fence = ?3 AND owner IS NOT NULL AND version = ?4`,

  tombstone: "SELECT deleted_at AS deletedAt FROM tombstones WHERE id = ?",
  forget: "DELETE FROM tombstones WHERE id = ?",
  forgetExpired: "DELETE FROM tombstones WHERE deleted_at <= ?",
  bury: `
    INSERT OR REPLACE INTO tombstones (id, incarnation, status, output, deleted_at)
    SELECT id, incarnation, status, CASE WHEN json_valid(head) THEN head -> '$.output' END, ?2 FROM executions WHERE seq = ?1`,
  deleteExecution: "DELETE FROM executions WHERE seq = ?",
  deleteEvents: "DELETE FROM events WHERE execution = ?1",
  countEvents: "SELECT count(*) AS events FROM events WHERE execution = ?1",
  ended: endedStatement,

  putDefinition: putDefinitionStatement,
  definition: definitionStatement,
};

/** Every statement of the store that does not depend on what is asked for, prepared once. */
export type Statements = Readonly<Record<StatementName, StatementSync>>;

/** Prepares them. */
export function prepareStatements(db: DatabaseSync): Statements {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, db.prepare(text)])) as Statements;
}
