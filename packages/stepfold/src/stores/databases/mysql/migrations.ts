import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { isMadeAlready, isMissingTable, mysqlError } from "./mysql-error.ts";
import { newestLayout, stepsOf } from "./mysql-schema.ts";
import { connected, numberOf, type Session, textOf } from "./mysql-session.ts";
import { type Tables, tablesOf } from "./tables.ts";

function layoutStatements({ layout }: Tables): string[] {
  return [`CREATE TABLE IF NOT EXISTS ${layout} (only_row TINYINT NOT NULL PRIMARY KEY, version INT NOT NULL) ENGINE=InnoDB`];
}

function layoutReached({ layout }: Tables, version: number): string {
  return `INSERT INTO ${layout} (only_row, version) VALUES (1, ${version}) ON DUPLICATE KEY UPDATE version = VALUES(version)`;
}

/**
 * The statements that make the tables and views, for those who run migrations themselves. Each may be run again; in MySQL,
 * unlike MariaDB, those that add a column or drop an index then say that it was done.
 *
 * @param prefix of their names; default `stepfold_`
 * @throws StepfoldError `OPTION_INVALID`
 */
export function mysqlMigrations(prefix: string = "stepfold_"): readonly string[] {
  const tables = tablesOf(prefix);
  return [...layoutStatements(tables), ...stepsOf(tables).flatMap((step, index) => [...step, layoutReached(tables, index + 1)])];
}

/**
 * Brings a database to today's layout. Any number of processes may do so at once: the first one works, the others wait and find
 * it done. After a crash in the middle it goes on where it was.
 *
 * @throws StepfoldError `STORE_REJECTED` if a newer version of Stepfold made the layout, or the user may not create tables
 * @throws StepfoldError `STORE_UNAVAILABLE`
 */
export async function migrateMysql(pool: MysqlPool, { prefix = "stepfold_" }: { readonly prefix?: string } = {}): Promise<void> {
  checkPool(pool);
  const tables = tablesOf(prefix);
  try {
    await connected(pool, async (session) => {
      if ((await layoutOf(session, tables)) === newestLayout) return;
      // where sessions do not commit by themselves it may have locked the row that whoever migrates now has to write
      await session.run("COMMIT");
      await locking(session, `stepfold ${prefix}`, () => migrate(session, tables));
    });
  } catch (cause) {
    throw mysqlError(cause);
  }
}

/** The layout that is there; 0: none. @throws StepfoldError `STORE_REJECTED` if it is newer than this version of Stepfold */
export async function layoutOf(session: Session, { layout }: Tables): Promise<number> {
  let version = 0;
  try {
    const [row] = await session.rows(`SELECT version FROM ${layout}`);
    version = row ? numberOf(row[0]) : 0;
  } catch (cause) {
    if (!isMissingTable(cause)) throw cause;
  }
  if (version <= newestLayout) return version;
  const reason = `the tables have layout ${version}, this version of Stepfold knows up to ${newestLayout}. Update Stepfold`;
  throw new StepfoldError("STORE_REJECTED", { store: "mysql", reason });
}

async function migrate(session: Session, tables: Tables): Promise<void> {
  for (const statement of layoutStatements(tables)) await session.run(statement);
  const from = await layoutOf(session, tables);
  for (const [index, step] of stepsOf(tables).entries()) {
    if (index < from) continue;
    for (const statement of step) await made(session, statement);
    await session.run(layoutReached(tables, index + 1));
    await session.run("COMMIT");
  }
}

/** Runs a statement of a step, maybe once more after a crash. */
async function made(session: Session, statement: string): Promise<void> {
  try {
    await session.run(statement);
  } catch (cause) {
    if (!isMadeAlready(cause)) throw cause;
  }
}

/** Runs `work` while no other process does under the same name; in one database, though the server's locks are for all of them. */
async function locking(session: Session, purpose: string, work: () => Promise<void>): Promise<void> {
  const [database] = await session.rows("SELECT SHA1(CONCAT(?, ' ', DATABASE()))", [purpose]);
  // at most 64 characters
  const lock = `stepfold ${textOf(database![0])}`;
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
