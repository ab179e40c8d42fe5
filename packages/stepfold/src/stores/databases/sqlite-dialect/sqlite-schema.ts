import { sqliteViews } from "./sqlite-views.ts";

/**
 * The steps that lead from an empty database to today's layout, oldest first, each with its statements. A step that was
 * released is never edited. `PRAGMA user_version` says how many were taken.
 *
 * What a commit of the claim's holder touches: one row of `executions`, none of its indexes, and one new row of `events`
 * with its index. Events lie in the order of writing: those of fifty executions that are committed together fill a few
 * pages, where a table ordered by execution would write fifty.
 */
export const sqliteLayout: readonly (readonly string[])[] = [
  [
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
  )`,
    "CREATE INDEX executions_due ON executions (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX executions_created ON executions (created_at)",
    "CREATE INDEX executions_definition ON executions (definition_id, created_at)",
    "CREATE INDEX executions_status ON executions (status, created_at)",
    "CREATE INDEX executions_ended ON executions (ended_at) WHERE ended_at IS NOT NULL",
    `
  CREATE TABLE events (
    place INTEGER PRIMARY KEY, -- in order of writing: what is committed together lies together
    execution INTEGER NOT NULL,
    version INTEGER NOT NULL,
    commit_id TEXT NOT NULL,
    event TEXT NOT NULL
  ) STRICT`,
    "CREATE UNIQUE INDEX events_history ON events (execution, version)",
    `
  CREATE TABLE children (
    place INTEGER PRIMARY KEY, -- in order of creation: a child that changes keeps its place, one that is put after it was deleted is the last
    execution INTEGER NOT NULL,
    key TEXT NOT NULL,
    head TEXT NOT NULL       -- JSON: the child without its context (see events)
  ) STRICT`,
    "CREATE UNIQUE INDEX children_key ON children (execution, key)",
    "CREATE TABLE definitions (hash TEXT PRIMARY KEY, definition TEXT NOT NULL) STRICT, WITHOUT ROWID",
    `
  CREATE TABLE tombstones (
    id TEXT PRIMARY KEY,
    incarnation TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT,
    deleted_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX tombstones_deleted ON tombstones (deleted_at)",
    ...sqliteViews,
  ],
  [
    `
  CREATE TABLE blobs (
    key TEXT PRIMARY KEY,
    written_at INTEGER NOT NULL,
    bytes BLOB NOT NULL -- the last column: a list does not read past it
  ) STRICT`,
  ],
  [
    `
  -- claims in a row that ran out, without a commit of their holder.
  -- Since then due_at of what is due now is the time of the commit that said so, less 10,000,000,000,000
  ALTER TABLE executions ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0`,
  ],
  [
    `
  -- permit_key: what it takes turns for, NULL: for nothing. permit_limit: how many with this key may be held at once
  ALTER TABLE executions ADD COLUMN permit_key TEXT`,
    "ALTER TABLE executions ADD COLUMN permit_limit INTEGER",
    "DROP INDEX executions_due",
    // those without a permit lie together; of the others each key does
    "CREATE INDEX executions_due ON executions (permit_key, due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX executions_waiting ON executions (due_at) WHERE permit_key IS NOT NULL AND due_at IS NOT NULL",
    "CREATE INDEX executions_held ON executions (permit_key, lease_until) WHERE permit_key IS NOT NULL AND lease_until IS NOT NULL",
  ],
];
