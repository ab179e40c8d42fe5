import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { maxKeyBytes } from "../../kit/blobs/blob-key.ts";
import type { ColumnRow } from "../../kit/columns.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { childColumns, columnDefinitions, eventColumns, executionColumns, type SqlColumn } from "../../kit/sql-layout.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { isServerError, mysqlError } from "./mysql-error.ts";
import { type ConnectionUse, type MysqlAsk, type MysqlValue, onConnection } from "./mysql-session.ts";
import { maxNameBytes, type Tables, tablesOf } from "./mysql-statement.ts";
import { viewsOf } from "./mysql-views.ts";

/** The layout of the tables that this version of Stepfold reads and writes. */
const currentLayout = 1;

/** Text that is compared byte by byte: no case, no accent, no space at the end is ever the same. */
const name = `VARBINARY(${maxNameBytes})`;
const json = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
const table = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

/** Columns of a table, each with what is to be said about it. */
function columnsSql(columns: readonly SqlColumn[]): string {
  return columnDefinitions(columns, { id: name, name, json, text: json, number: "BIGINT" }, (definition, about) =>
    about === undefined ? `${definition},` : `${definition} COMMENT '${about}',`,
  );
}

/**
 * The tables. What a commit of the claim's holder touches: one row of `executions`, none of its indexes, and one new row of `events`.
 * A tombstone has no `created_at`, no `due_at` and no `ended_at`, so that it is in no index by which lists and claims go.
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
  KEY created (created_at, seq),
  KEY definitions (definition_id, created_at, seq),
  KEY statuses (status, created_at, seq),
  KEY ended (ended_at, seq),
  KEY deleted (deleted_at, seq)
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
    await onConnection(pool, "look", async (ask) => {
      if (await isMade(ask, tables)) return;
      // a session that does not commit by itself holds what it has read, for which the process that migrates now may wait
      await ask("COMMIT");
      // the server's locks are for all its databases, and their names have at most 64 characters
      const [named] = await ask("SELECT CONCAT('stepfold ', SHA1(CONCAT(?, ' ', DATABASE()))) AS name", [`stepfold ${prefix}`]);
      const lock = [named!.name as string];
      const [granted] = await ask("SELECT GET_LOCK(?, 60) AS is_ours", lock);
      if (Number(granted!.is_ours) !== 1) {
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "mysql", reason: "another process has been migrating for a minute" });
      }
      try {
        if (await isMade(ask, tables)) return;
        for (const statement of mysqlMigrations(prefix)) await ask(statement);
        await ask("COMMIT");
      } finally {
        // with its connection the lock ends anyway
        await ask("SELECT RELEASE_LOCK(?)", lock).catch(() => []);
      }
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
async function isMade(ask: MysqlAsk, { layout }: Tables): Promise<boolean> {
  let found: number;
  try {
    const [row] = await ask(`SELECT layout FROM ${layout}`);
    found = Number(row?.layout ?? 0);
  } catch (cause) {
    if (isServerError(cause, "missingTable")) return false;
    if (!isServerError(cause, "missingColumn")) throw cause;
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

/** What a transaction writes to. */
export interface MysqlTransaction {
  readonly ask: MysqlAsk;
  readonly tables: Tables;
  /** Of the values of one statement. */
  readonly maxBytes: number;
}

/** The tables of a prefix. The first call looks whether they are there; after a failure the next one looks again. */
export class OpenTables {
  readonly tables: Tables;
  /** Gives the most bytes that the values of one statement may have. */
  readonly ready: () => Promise<number>;
  readonly #pool: MysqlPool;

  constructor(options: TablesOptions) {
    this.tables = tablesOf(options.prefix);
    this.ready = onceReady(() => prepare(options));
    this.#pool = options.pool;
  }

  /** Runs `work` on one connection. */
  async run<T>(use: ConnectionUse, work: (to: MysqlTransaction) => Promise<T>): Promise<T> {
    const maxBytes = await this.ready();
    return onConnection(this.#pool, use, (ask) => work({ ask, tables: this.tables, maxBytes }));
  }

  /** Sends one statement. */
  send(use: ConnectionUse, sql: string, values: readonly MysqlValue[]): Promise<readonly ColumnRow[]> {
    return this.run(use, ({ ask }) => ask(sql, values));
  }
}

async function prepare({ pool, prefix, migrate, maxValueBytes }: TablesOptions): Promise<number> {
  if (migrate) await migrateMysql(pool, { prefix });
  return onConnection(pool, "look", async (ask) => {
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
