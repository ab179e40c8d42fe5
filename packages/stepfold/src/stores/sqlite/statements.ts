import type { DatabaseSync, StatementSync } from "node:sqlite";

const terminal = "('completed', 'failed', 'cancelled')";

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
      version, status, head, wake_at, due_at, owner, fence, lease_until, created_at, updated_at, ended_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, ?15)
    ON CONFLICT (id) DO NOTHING RETURNING seq`,
  appendEvent: "INSERT INTO events (execution, version, commit_id, event) VALUES (?1, ?2, ?3, ?4)",
  putChild: `
    INSERT INTO children (execution, key, head) VALUES (?1, ?2, ?3)
    ON CONFLICT (execution, key) DO UPDATE SET head = excluded.head`,
  deleteChild: "DELETE FROM children WHERE execution = ?1 AND key = ?2",
  children: "SELECT key, head FROM children WHERE execution = ?1 ORDER BY place",
  deleteChildren: "DELETE FROM children WHERE execution = ?1",

  // Of the holder, while the status stays: sets no indexed column, so no index is written.
  step: `
    UPDATE executions SET version = ?1, head = ?2, wake_at = ?3, updated_at = ?4
    WHERE id = ?5 AND incarnation = ?6 AND version = ?7 AND status = ?8 AND fence = ?9 AND owner IS NOT NULL
    RETURNING seq`,
  // Any other. ?7: the claim ends with it. Somebody else's leaves the holder its lease.
  change: `
    UPDATE executions SET version = ?1, head = ?2, wake_at = ?3, updated_at = ?4, status = ?5,
      ended_at = CASE WHEN ?5 IN ${terminal} THEN ?4 END,
      due_at = CASE WHEN ?7 OR owner IS NULL THEN ?3 ELSE due_at END,
      owner = CASE WHEN ?7 THEN NULL ELSE owner END,
      lease_until = CASE WHEN ?7 THEN NULL ELSE lease_until END
    WHERE id = ?8 AND incarnation = ?9 AND version = ?10 AND status NOT IN ${terminal}
      AND (?6 IS NULL OR (fence = ?6 AND owner IS NOT NULL))
    RETURNING seq`,

  execution: "SELECT seq, incarnation, version, status, owner, fence FROM executions WHERE id = ?",
  commitIdAt: "SELECT commit_id AS commitId FROM events WHERE execution = ?1 AND version = ?2",
  head: "SELECT seq, id, incarnation, version, status, head FROM executions WHERE id = ?",
  history: "SELECT event FROM events WHERE execution = ?1 ORDER BY version",
  rows: `
    SELECT events.version, commit_id AS commitId, event
    FROM (SELECT seq FROM executions WHERE id = ?1) CROSS JOIN events
    WHERE execution = seq AND events.version > CAST(?2 AS INTEGER) ORDER BY events.version LIMIT ?3`,

  due: "SELECT seq FROM executions WHERE due_at <= ?1 ORDER BY due_at, seq LIMIT ?2",
  dueOne: "SELECT seq FROM executions WHERE due_at <= ?1 AND id = ?2",
  take: `
    UPDATE executions SET owner = ?2, fence = fence + 1, lease_until = ?3, due_at = ?3 WHERE seq = ?1
    RETURNING seq, id, incarnation, version, status, head, fence`,
  renew: `
    UPDATE executions SET lease_until = ?4, due_at = ?4 WHERE id = ?1 AND incarnation = ?2 AND fence = ?3 AND owner IS NOT NULL
    RETURNING version, status`,
  release: `
    UPDATE executions SET owner = NULL, lease_until = NULL, due_at = wake_at
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
  // ?2: JSON array of statuses
  ended: `
    SELECT seq FROM executions
    INDEXED BY executions_ended
    WHERE ended_at < ?1 AND status IN (SELECT value FROM json_each(?2))
    ORDER BY ended_at, seq LIMIT ?3`,

  putDefinition: "INSERT OR IGNORE INTO definitions (hash, definition) VALUES (?, ?)",
  definition: "SELECT definition FROM definitions WHERE hash = ?",
};

/** Every statement of the store that does not depend on what is asked for, prepared once. */
export type Statements = Readonly<Record<StatementName, StatementSync>>;

/** Prepares them. */
export function prepareStatements(db: DatabaseSync): Statements {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, db.prepare(text)])) as Statements;
}
