import type { DatabaseSync } from "node:sqlite";
import { StepfoldError } from "../../core/stepfold-error.ts";

/**
 * The steps that lead from an empty file to today's layout, oldest first. A step that was released is never edited.
 *
 * What a commit of the claim's holder touches: one row of `executions`, none of its indexes, and one new row of `events`.
 * The key of `events` is one integer (execution, then version): it keeps a history together on few pages, and costs
 * a quarter less writing than a primary key of two columns.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE executions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    incarnation TEXT NOT NULL,
    definition_id TEXT NOT NULL,
    definition TEXT NOT NULL, -- JSON; like metadata fixed at the start
    metadata TEXT NOT NULL,  -- JSON
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    head TEXT NOT NULL,      -- JSON: the snapshot without its context (see events) and without what is in other columns or in the first event
    wake_at INTEGER,         -- when it needs somebody to drive it; 0: now; NULL: never
    due_at INTEGER,          -- when it may be claimed: lease_until while it is held, else wake_at
    owner TEXT,              -- who holds it; NULL: nobody
    fence INTEGER NOT NULL,  -- number of claims so far
    lease_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER         -- apart from updated_at, which changes at every step, so that only the end writes its index
  );
  CREATE INDEX executions_due ON executions (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX executions_created ON executions (created_at);
  CREATE INDEX executions_definition ON executions (definition_id, created_at);
  CREATE INDEX executions_status ON executions (status, created_at);
  CREATE INDEX executions_ended ON executions (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE events (
    key INTEGER PRIMARY KEY, -- seq of the execution * 2^24 + version
    execution INTEGER GENERATED ALWAYS AS (key >> 24) VIRTUAL,
    version INTEGER GENERATED ALWAYS AS (key & 16777215) VIRTUAL,
    commit_id TEXT NOT NULL,
    event TEXT NOT NULL
  ) STRICT;

  CREATE TABLE definitions (hash TEXT PRIMARY KEY, definition TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE tombstones (
    id TEXT PRIMARY KEY,
    incarnation TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT,
    deleted_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tombstones_deleted ON tombstones (deleted_at);

  CREATE VIEW workflow_executions (id, snapshot, status, version, created_at, updated_at) AS
  SELECT id,
    json_set(head,
      '$.version', version,
      '$.status', status,
      '$.createdAt', started_at,
      '$.definition', json(definition),
      '$.metadata', json(metadata),
      '$.incarnation', incarnation,
      '$.context', json(coalesce((
        SELECT json_group_object(node, json(results) ORDER BY first_key) FROM (
          SELECT event ->> '$.nodeId' AS node, min(key) AS first_key, json_group_array(
            CASE event ->> '$.type'
              WHEN 'completed' THEN json_object(
                'output', event -> '$.output',
                'timestamp', event -> '$.at', 'attempt', event -> '$.attempt', 'pathId', event -> '$.pathId', 'version', version)
              ELSE json_object(
                'output', CASE event ->> '$.handle' WHEN 'error' THEN event -> '$.error' END,
                'timestamp', event -> '$.at', 'attempt', event -> '$.attempt', 'error', event -> '$.error.message',
                'pathId', event -> '$.pathId', 'version', version)
            END ORDER BY key) AS results
          FROM events
          WHERE key >= (seq << 24) AND key < ((seq + 1) << 24) AND event ->> '$.type' IN ('completed', 'failed', 'timedOut')
          GROUP BY node)), '{}')),
      -- without an input this sets workflowId twice
      CASE WHEN input IS NULL THEN '$.workflowId' ELSE '$.input' END, json(coalesce(input, json_quote(id))),
      '$.workflowId', id),
    status, version, created_at, updated_at
  FROM (
    SELECT executions.*, event -> '$.input' AS input, event ->> '$.at' AS started_at
    FROM executions JOIN events ON key = seq << 24);
  `,
];

/** Most versions that the key of `events` has room for. */
export const mostVersions: number = 2 ** 24;

/** Brings a file to today's layout. Any number of processes may do so at once: the first one works, the others find it done. */
export function migrate(db: DatabaseSync): void {
  if (layoutOf(db) === migrations.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const from = layoutOf(db);
    if (from > migrations.length) {
      const reason = `the file has layout ${from}, this version of Stepfold knows up to ${migrations.length}. Update Stepfold`;
      throw new StepfoldError("STORE_REJECTED", { store: "sqlite", reason });
    }
    for (const step of migrations.slice(from)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec("COMMIT");
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

function layoutOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}
