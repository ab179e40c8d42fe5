import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { maxKeyBytes } from "../../kit/blobs/blob-key.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { isMissingColumn, isMissingTable, mysqlError } from "./mysql-error.ts";
import { columnText, connected, type MysqlSession, numberOf } from "./mysql-session.ts";
import { maxNameBytes, type Tables, tablesOf } from "./mysql-statement.ts";
import { viewsOf } from "./mysql-views.ts";

/** The layout of the tables that this version of Stepfold reads and writes. */
const currentLayout = 1;

/** Text that is compared byte by byte: no case, no accent, no space at the end is ever the same. */
const name = `VARBINARY(${maxNameBytes})`;
const json = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
const table = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

/**
 * The executions. What a commit of the claim's holder touches: one row of `executions`, none of its indexes, and one new row of `events`.
 * A tombstone has no `created_at`, no `due_at` and no `ended_at`, so that it is in no index by which lists and claims go.
 */
function executionsStatement(executions: string): string {
  return `CREATE TABLE IF NOT EXISTS ${executions} (
  seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  id ${name} NOT NULL COMMENT 'UTF-8, like every VARBINARY here',
  incarnation ${name} NOT NULL,
  definition_id ${name} NOT NULL,
  definition ${json} NOT NULL COMMENT 'JSON; like metadata fixed at the start',
  metadata ${json} NOT NULL COMMENT 'JSON',
  creator ${name} NOT NULL COMMENT 'the transaction that created it',
  version BIGINT NOT NULL,
  status VARBINARY(16) NOT NULL,
  head ${json} NOT NULL COMMENT 'JSON: the snapshot without what is in events and in other columns',
  wake_at BIGINT COMMENT 'when it needs a process to drive it; 0: now; NULL: never',
  due_at BIGINT COMMENT 'when it may be claimed: at the end of the lease while it has an owner; NULL: never',
  owner ${name} COMMENT 'who holds it; NULL: nobody',
  fence BIGINT NOT NULL COMMENT 'number of claims so far',
  crashes BIGINT NOT NULL DEFAULT 0 COMMENT 'claims in a row that ran out, without a commit of their holder',
  permit_key ${name} COMMENT 'its concurrency key',
  permit_limit BIGINT COMMENT 'how many with this key may be held at once',
  due_key ${name} GENERATED ALWAYS AS (CASE WHEN due_at IS NULL THEN NULL ELSE permit_key END) STORED,
  waiting_at BIGINT GENERATED ALWAYS AS (CASE WHEN permit_key IS NULL THEN NULL ELSE due_at END) STORED,
  created_at BIGINT COMMENT 'epoch milliseconds, like all times',
  updated_at BIGINT NOT NULL,
  ended_at BIGINT COMMENT 'apart from updated_at, which changes at every step, so that only the end writes its index',
  deleted_at BIGINT COMMENT 'set for a tombstone: the execution was deleted, and only its id is still taken',
  UNIQUE KEY ids (id),
  KEY due (due_key, due_at, seq, permit_limit),
  KEY waiting (waiting_at, seq),
  KEY created (created_at, seq),
  KEY definitions (definition_id, created_at, seq),
  KEY statuses (status, created_at, seq),
  KEY ended (ended_at, seq),
  KEY deleted (deleted_at, seq)
) ${table}`;
}

function tableStatements({ executions, events, children, records, blobs }: Tables): string[] {
  return [
    executionsStatement(executions),
    `CREATE TABLE IF NOT EXISTS ${events} (
  execution BIGINT NOT NULL,
  version BIGINT NOT NULL,
  commit_id ${name} NOT NULL,
  event ${json} NOT NULL COMMENT 'JSON',
  PRIMARY KEY (execution, version)
) ${table}`,
    `CREATE TABLE IF NOT EXISTS ${children} (
  execution BIGINT NOT NULL,
  hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the name, which may be of any length',
  name LONGBLOB NOT NULL,
  place BIGINT NOT NULL COMMENT 'in order of creation: one that changes keeps its place',
  head ${json} NOT NULL COMMENT 'JSON: the child without its context (see events)',
  PRIMARY KEY (execution, hash)
) ${table}`,
    `CREATE TABLE IF NOT EXISTS ${records} (
  kind VARBINARY(16) NOT NULL COMMENT 'definition: by its hash; permit: the holders of a concurrency key',
  name ${name} NOT NULL,
  revision ${name} NOT NULL,
  body ${json} NOT NULL COMMENT 'JSON',
  PRIMARY KEY (kind, name)
) ${table}`,
    `CREATE TABLE IF NOT EXISTS ${blobs} (
  name VARBINARY(${maxKeyBytes}) NOT NULL PRIMARY KEY,
  written_at BIGINT NOT NULL,
  bytes LONGBLOB NOT NULL
) ${table}`,
  ];
}

/**
 * The statements that make the tables and views, for those who run migrations themselves. Each may be run again.
 *
 * @param prefix of their names; default `stepfold_`
 * @throws StepfoldError `OPTION_INVALID`
 */
export function mysqlMigrations(prefix: string = "stepfold_"): readonly string[] {
  const tables = tablesOf(prefix);
  const { layout } = tables;
  return [
    `CREATE TABLE IF NOT EXISTS ${layout} (only_row TINYINT NOT NULL PRIMARY KEY, layout INT NOT NULL) ENGINE=InnoDB`,
    ...tableStatements(tables),
    ...viewsOf(tables),
    `INSERT INTO ${layout} (only_row, layout) VALUES (1, ${currentLayout}) ON DUPLICATE KEY UPDATE layout = VALUES(layout)`,
  ];
}

/**
 * Makes the tables and views, if they are not there. Any number of processes may do so at once: the first one works, the others
 * wait and find it done. After a crash in the middle the next one finishes it.
 *
 * @throws StepfoldError `STORE_REJECTED` if another version of Stepfold made the tables, or the user may not create tables
 * @throws StepfoldError `STORE_UNAVAILABLE`
 */
export async function migrateMysql(pool: MysqlPool, { prefix = "stepfold_" }: { readonly prefix?: string } = {}): Promise<void> {
  checkPool(pool);
  const tables = tablesOf(prefix);
  try {
    await connected(pool, async (session) => {
      if (await isMade(session, tables)) return;
      // a session that does not commit by itself holds what it has read, for which the process that migrates now may wait
      await session.run("COMMIT");
      await locking(session, `stepfold ${prefix}`, async () => {
        if (await isMade(session, tables)) return;
        for (const statement of mysqlMigrations(prefix)) await session.run(statement);
        await session.run("COMMIT");
      });
    });
  } catch (cause) {
    throw mysqlError(cause);
  }
}

/**
 * Whether the tables are there.
 *
 * @throws StepfoldError `STORE_REJECTED` if another version of Stepfold made them
 */
async function isMade(session: MysqlSession, { layout }: Tables): Promise<boolean> {
  let found: number;
  try {
    const [row] = await session.rows(`SELECT layout FROM ${layout}`);
    found = row ? numberOf(row[0]) : 0;
  } catch (cause) {
    if (isMissingTable(cause)) return false;
    if (!isMissingColumn(cause)) throw cause;
    const advice = "drop them, or use another prefix; what they hold cannot be taken over";
    throw refused(`the tables have a layout from before Stepfold's first release: ${advice}`);
  }
  if (found <= currentLayout) return found === currentLayout;
  throw refused(`the tables have layout ${found}, this version of Stepfold knows up to ${currentLayout}. Update Stepfold`);
}

/** What a statement is made of beside its values: names, places, the bytes before each value. */
const overheadBytes = 128 * 1024;

/** How a store or its blobs find the tables. */
export interface TablesOptions {
  readonly pool: MysqlPool;
  readonly prefix: string;
  /** The tables are made if they are not there. */
  readonly migrate: boolean;
  /** Two values of this size must fit into a statement: a new execution has its head and its metadata in one row. */
  readonly maxValueBytes: number;
}

/** Looks once whether the tables are there; after a failure again. Gives the most bytes that the values of one statement may have. */
export function prepared(options: TablesOptions): () => Promise<number> {
  let preparing: Promise<number> | null = null;
  return () => {
    preparing ??= prepare(options).catch((cause: unknown) => {
      preparing = null;
      throw cause;
    });
    return preparing;
  };
}

async function prepare({ pool, prefix, migrate, maxValueBytes }: TablesOptions): Promise<number> {
  if (migrate) await migrateMysql(pool, { prefix });
  return connected(pool, async (session) => {
    if (!(await isMade(session, tablesOf(prefix)))) {
      throw refused("the tables are missing: run `stepfold migrate --store URL`, call migrateMysql(pool), or pass migrate: true");
    }
    const [row] = await session.rows("SELECT @@max_allowed_packet");
    const maxPacket = numberOf(row![0]);
    const needed = 2 * maxValueBytes + overheadBytes;
    if (maxPacket >= needed) return maxPacket - overheadBytes;
    throw refused(`max_allowed_packet of the server is ${maxPacket}: raise it to ${needed}, or lower maxValueBytes`);
  });
}

/** Runs `work` while no other process does under the same name; in one database, though the server's locks are for all of them. */
async function locking(session: MysqlSession, purpose: string, work: () => Promise<void>): Promise<void> {
  const [database] = await session.rows("SELECT SHA1(CONCAT(?, ' ', DATABASE()))", [purpose]);
  // at most 64 characters
  const lock = `stepfold ${columnText(database![0])}`;
  const [granted] = await session.rows("SELECT GET_LOCK(?, 60)", [lock]);
  if (numberOf(granted![0]) !== 1) {
    throw new StepfoldError("STORE_UNAVAILABLE", { store: "mysql", reason: "another process has been migrating for a minute" });
  }
  try {
    await work();
  } finally {
    // with its connection the lock ends anyway
    await session.rows("SELECT RELEASE_LOCK(?)", [lock]).catch(() => []);
  }
}

function refused(reason: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "mysql", reason });
}
