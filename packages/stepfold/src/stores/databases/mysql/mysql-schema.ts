import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { maxKeyBytes } from "../../kit/blobs/blob-key.ts";
import type { ColumnRow } from "../../kit/columns.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { childColumns, columnDefinitions, eventColumns, executionColumns, type SqlColumn } from "../../kit/sql-layout.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { isServerError, mysqlError } from "./mysql-error.ts";
import { type Isolation, type MysqlAsk, type MysqlValue, onConnection } from "./mysql-session.ts";
import { maxNameBytes, type Tables, tablesOf } from "./mysql-statement.ts";
import { viewsOf } from "./mysql-views.ts";

/** The layout of the tables that this version of Stepfold reads and writes. */
const currentLayout = 3;

/** The type of names, which are compared byte by byte: case, accents and spaces at the end make a difference. */
const name = `VARBINARY(${maxNameBytes})`;
const json = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
const table = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

/** Returns the column definitions of a table, each with its comment. */
function columnsSql(columns: readonly SqlColumn[]): string {
  return columnDefinitions(columns, { id: name, name, json, text: json, number: "BIGINT" }, (definition, about) =>
    about === undefined ? `${definition},` : `${definition} COMMENT '${about}',`,
  );
}

/**
 * Returns the statements that create the tables. An ordinary step of the claim's holder, after which status and claim are the same, changes
 * one row of `executions` and none of its indexes, and adds one row to `events`. A tombstone has no `created_at`, no `due_at` and no
 * `ended_at`, so that lists and claims do not find it in the indexes that they read.
 */
function tableStatements({ executions, events, children, records, blobs }: Tables): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${executions} (
  seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'in this table and the others text is UTF-8 in every VARBINARY',
${columnsSql(executionColumns)}
  creator ${name} NOT NULL COMMENT 'the transaction that created it',
  due_key ${name} GENERATED ALWAYS AS (CASE WHEN due_at IS NULL THEN NULL ELSE permit_key END) STORED,
  waiting_at BIGINT GENERATED ALWAYS AS (CASE WHEN permit_key IS NULL THEN NULL ELSE due_at END) STORED,
  UNIQUE KEY ids (id),
  KEY due (due_key, due_at, seq, permit_limit),
  KEY waiting (waiting_at, seq),
  KEY exempt (exempt_at, seq),
  KEY created (created_at, seq),
  KEY definitions (definition_id, created_at, seq),
  KEY statuses (status, created_at, seq),
  KEY ended (ended_at, seq),
  KEY deleted (deleted_at, seq),
  KEY run (run_at, seq)
) ${table}`,
    `CREATE TABLE IF NOT EXISTS ${events} (
${columnsSql(eventColumns)}
  PRIMARY KEY (execution, version)
) ${table}`,
    `CREATE TABLE IF NOT EXISTS ${children} (
${columnsSql(childColumns)}
  name LONGBLOB NOT NULL,
  hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the name, which may be of any length',
  PRIMARY KEY (execution, hash)
) ${table}`,
    `CREATE TABLE IF NOT EXISTS ${records} (
  kind VARBINARY(16) NOT NULL COMMENT 'definition: a definition by its hash; permit: the holders of the permits of a key',
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
 * Returns the statements that create the tables and views, for users who run their own migrations. Each statement may be run again.
 *
 * @param prefix the prefix of their names; default `stepfold_`
 * @throws StepfoldError `OPTION_INVALID` if `prefix` is not a valid part of a name
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
 * Creates the tables and views if they do not exist. Any number of processes may call this at the same time: the first one creates
 * them while the others wait. After a crash in between, the next call completes the migration.
 *
 * @throws StepfoldError `STORE_REJECTED` if another version of Stepfold made the tables, or the user may not create tables
 * @throws StepfoldError `STORE_UNAVAILABLE` if the server does not answer in time, or another process migrates for too long
 * @throws StepfoldError `OPTION_INVALID` if `pool` is not a pool of `mysql2/promise`, or `prefix` is not a valid part of a name
 */
export async function migrateMysql(pool: MysqlPool, { prefix = "stepfold_" }: { readonly prefix?: string } = {}): Promise<void> {
  checkPool(pool);
  const tables = tablesOf(prefix);
  try {
    await onConnection(pool, "peek", async (ask) => {
      if (await isMade(ask, tables)) return;
      // a session without autocommit still locks the table that it has read, and a process that is migrating may wait for that table
      await ask("COMMIT");
      // a named lock is shared by all databases of the server, and its name has at most 64 characters, so the name contains a hash
      const [named] = await ask("SELECT CONCAT('stepfold ', SHA1(CONCAT(?, ' ', DATABASE()))) AS name", [`stepfold ${prefix}`]);
      const lock = [named!.name as string];
      let isOurs = false;
      // every statement has to be answered within 10 s, so the lock is asked for several times in a minute
      for (let tries = 0; !isOurs && tries < 12; tries++)
        isOurs = Number((await ask("SELECT GET_LOCK(?, 5) AS is_ours", lock))[0]!.is_ours) === 1;
      if (!isOurs) throw new StepfoldError("STORE_UNAVAILABLE", { store: "mysql", reason: "another process migrates for a minute" });
      try {
        if (await isMade(ask, tables)) return;
        for (const statement of mysqlMigrations(prefix)) await ask(statement);
        await ask("COMMIT");
      } finally {
        // if this fails, the lock ends with its connection
        await ask("SELECT RELEASE_LOCK(?)", lock).catch(() => []);
      }
    });
  } catch (cause) {
    throw mysqlError(cause);
  }
}

const ofEarlierLayout =
  "the tables have a layout from before Stepfold's first release: drop them, or use another prefix; their contents cannot be migrated";

/**
 * Returns whether the tables exist and the migration was completed.
 *
 * @throws StepfoldError `STORE_REJECTED` if a newer version of Stepfold made them, or one from before its first release
 */
async function isMade(ask: MysqlAsk, { layout }: Tables): Promise<boolean> {
  let found: number;
  try {
    const [row] = await ask(`SELECT layout FROM ${layout}`);
    found = Number(row?.layout ?? 0);
  } catch (cause) {
    if (isServerError(cause, "missingTable")) return false;
    if (!isServerError(cause, "missingColumn")) throw cause;
    throw refused(ofEarlierLayout);
  }
  if (found === 0 || found === currentLayout) return found !== 0;
  if (found < currentLayout) throw refused(ofEarlierLayout);
  throw refused(`the tables have layout ${found}, this version of Stepfold knows up to ${currentLayout}. Update Stepfold`);
}

/** The bytes of a statement that are kept free for everything besides values: names, placeholders, the bytes before each value. */
const overheadBytes = 128 * 1024;

/** How a store or its blobs find the tables. */
export interface TablesOptions {
  readonly pool: MysqlPool;
  readonly prefix: string;
  /** True: the first call creates the tables if they do not exist. */
  readonly migrate: boolean;
  /** The largest value in bytes. Two such values must fit into a statement, because a new execution has head and metadata in one row. */
  readonly maxValueBytes: number;
}

/** What the work on a connection uses: the function that sends statements, and the tables. */
export interface MysqlTransaction {
  readonly ask: MysqlAsk;
  readonly tables: Tables;
  /** The most bytes that the values of one statement may have. */
  readonly maxBytes: number;
}

/** The tables of a prefix. The first call checks that they exist, or creates them; after a failure the next call tries again. */
export class OpenTables {
  readonly tables: Tables;
  /** Checks or creates the tables once, and resolves to the most bytes that the values of one statement may have. */
  readonly ready: () => Promise<number>;
  readonly #pool: MysqlPool;

  constructor(options: TablesOptions) {
    checkPool(options.pool);
    this.tables = tablesOf(options.prefix);
    this.ready = onceReady(() => prepare(options));
    this.#pool = options.pool;
  }

  /** Runs `work` on one connection. */
  async run<T>(isolation: Isolation, work: (to: MysqlTransaction) => Promise<T>): Promise<T> {
    const maxBytes = await this.ready();
    return onConnection(this.#pool, isolation, (ask) => work({ ask, tables: this.tables, maxBytes }));
  }

  /** Sends one statement. */
  send(isolation: Isolation, sql: string, values: readonly MysqlValue[]): Promise<readonly ColumnRow[]> {
    return this.run(isolation, ({ ask }) => ask(sql, values));
  }
}

/** Checks the tables, with `migrate` creates them, and returns the most bytes that the values of one statement may have. */
async function prepare({ pool, prefix, migrate, maxValueBytes }: TablesOptions): Promise<number> {
  if (migrate) await migrateMysql(pool, { prefix });
  return onConnection(pool, "peek", async (ask) => {
    if (!(await isMade(ask, tablesOf(prefix)))) {
      throw refused("the tables are missing: run `stepfold migrate --store URL`, call migrateMysql(pool), or pass migrate: true");
    }
    const [row] = await ask("SELECT @@max_allowed_packet AS max_packet");
    const maxPacket = Number(row!.max_packet);
    const needed = 2 * maxValueBytes + overheadBytes;
    if (maxPacket >= needed) return maxPacket - overheadBytes;
    throw refused(`max_allowed_packet of the server is ${maxPacket}: raise it to ${needed}, or lower maxValueBytes`);
  });
}

function refused(reason: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "mysql", reason });
}
