import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { columnDefinitions, executionColumns } from "../../kit/sql-layout.ts";
import { sqliteViews } from "./sqlite-views.ts";
import type { SqlRow } from "./statement.ts";

/** The number of the layout below, which `PRAGMA user_version` holds. */
const sqliteLayout = 3;

const types = { id: "TEXT", name: "TEXT", json: "TEXT", text: "TEXT", number: "INTEGER" } as const;

/**
 * The statements that create the tables.
 *
 * An ordinary step of the claim's holder, after which status and claim are the same, changes one row of `executions` and none of its
 * indexes, and adds one row to `events` and its index. Events lie in the order of writing: the events of fifty executions that are
 * committed together fill a few pages, while a table ordered by execution would write fifty pages. An execution that is due at once has
 * a negative `due_at`: it has been due since `due_at` + 10,000,000,000,000.
 */
export const sqliteSchema: readonly string[] = [
  `
  CREATE TABLE executions (
    seq INTEGER PRIMARY KEY,
${columnDefinitions(executionColumns, types, (definition, about) => (about ? `${definition}, -- ${about}` : `${definition},`))}
    UNIQUE (id)
  )`,
  "CREATE INDEX executions_due ON executions (due_at) WHERE due_at IS NOT NULL AND permit_key IS NULL",
  "CREATE INDEX executions_due_by_key ON executions (permit_key, due_at) WHERE due_at IS NOT NULL AND permit_key IS NOT NULL",
  "CREATE INDEX executions_due_with_key ON executions (due_at) WHERE due_at IS NOT NULL AND permit_key IS NOT NULL",
  "CREATE INDEX executions_exempt ON executions (exempt_at) WHERE exempt_at IS NOT NULL",
  "CREATE INDEX executions_created ON executions (created_at) WHERE deleted_at IS NULL",
  "CREATE INDEX executions_definition ON executions (definition_id, created_at) WHERE deleted_at IS NULL",
  "CREATE INDEX executions_status ON executions (status, created_at) WHERE deleted_at IS NULL",
  "CREATE INDEX executions_ended ON executions (ended_at) WHERE ended_at IS NOT NULL",
  "CREATE INDEX executions_deleted ON executions (deleted_at) WHERE deleted_at IS NOT NULL",
  "CREATE INDEX executions_run ON executions (run_at) WHERE run_at IS NOT NULL",
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
  `
  CREATE TABLE records (
    kind TEXT NOT NULL,      -- definition: a definition by its hash, permit: the holders of the permits of a key
    key TEXT NOT NULL,
    revision TEXT NOT NULL,  -- a new value with every write
    text TEXT NOT NULL,      -- JSON
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID`,
  `
  CREATE TABLE blobs (
    key TEXT PRIMARY KEY,
    written_at INTEGER NOT NULL,
    bytes BLOB NOT NULL      -- the last column: a list does not read past it
  ) STRICT`,
  ...sqliteViews,
  `PRAGMA user_version = ${sqliteLayout}`,
];

const layoutView = "stepfold_layout_";

/** The same for databases in which `PRAGMA user_version` cannot be set: there the name of a view contains the number of the layout. */
export const sqliteSchemaByName: readonly string[] = [
  ...sqliteSchema.slice(0, -1),
  `CREATE VIEW ${layoutView}${sqliteLayout} AS SELECT ${sqliteLayout} AS layout`,
];

/** The query for the number of the layout in the name of a view. It returns no row if there are no tables. */
export const layoutByName: string = `SELECT substr(name, ${layoutView.length + 1}) AS user_version FROM sqlite_master WHERE name GLOB '${layoutView}*'`;

/**
 * Returns whether a database has the tables.
 *
 * @param what what the error message calls the database, such as "file"
 * @param row the row that `PRAGMA user_version` or `layoutByName` returned
 * @throws StepfoldError `STORE_REJECTED` if another version of Stepfold made it
 */
export function hasTables(store: string, what: string, row: SqlRow | undefined): boolean {
  const layout = Number(row?.user_version ?? 0);
  if (layout === 0 || layout === sqliteLayout) return layout !== 0;
  const problem = `it has layout ${layout}, and this version of Stepfold reads layout ${sqliteLayout}`;
  const reason = `the ${what} cannot be used: ${problem}: use a new database, or another version of Stepfold`;
  throw new StepfoldError("STORE_REJECTED", { store, reason });
}
