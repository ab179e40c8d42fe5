import { DatabaseSync } from "node:sqlite";
import type { SnapshotStore } from "stepfold";
import type { Library } from "./library.ts";
import { serverUrl } from "./peer.ts";

/** The surroundings in which a load runs. */
export interface Place {
  readonly library: Library;
  /** The path for a database file, which does not exist yet and is removed afterwards. */
  readonly path: string;
  /** Registers work to be done before the process ends. The work that was registered last is done first. */
  readonly atEnd: (work: () => Promise<void>) => void;
}

/** A store with a file or schema of its own, and direct access to its database. */
export interface Home {
  readonly store: SnapshotStore;
  /** Runs a SQL statement and returns its rows. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly names: HomeNames;
}

/** The names and statements of a database that copying many rows needs. */
interface HomeNames {
  /** The name of the table of executions. */
  readonly executions: string;
  /** A query for the columns of that table, each with its name in the field `name`. */
  readonly columns: string;
  /** Returns an expression for a table of the numbers `n` from 1 to `most`. */
  readonly numbers: (most: number) => string;
  /** Statements for the maintenance that the database would otherwise do by itself some time after many inserts. */
  readonly settle: readonly string[];
}

/** Opens a store on a new SQLite file. */
export async function sqliteHome({ library, path, atEnd }: Place): Promise<Home> {
  const { sqliteStore } = await library("./stores/sqlite");
  const store = sqliteStore(path);
  await store.now(); // the first access creates the tables
  const db = new DatabaseSync(path);
  atEnd(async () => {
    db.close();
    await store.close();
  });
  const names = {
    executions: "executions",
    columns: "SELECT name FROM pragma_table_info('executions')",
    numbers: (most: number) =>
      `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${most}) SELECT n FROM numbers)`,
    settle: ["PRAGMA wal_checkpoint(TRUNCATE)"],
  };
  return { store, query: async (sql) => db.prepare(sql).all(), names };
}

/** Opens a store in a PostgreSQL schema of its own, which is dropped at the end. */
export async function postgresHome({ library, atEnd }: Place): Promise<Home> {
  const { default: pg } = await import("pg");
  const { postgresStore } = await library("./stores/postgres");
  const pool = new pg.Pool({ connectionString: await serverUrl("postgres"), max: 10 });
  const schema = `compare_${process.pid}`;
  const store = postgresStore(pool, { schema, migrate: true });
  atEnd(async () => {
    await store.close();
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await pool.end();
  });
  const names = {
    executions: `"${schema}".executions`,
    columns: `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = '${schema}' AND table_name = 'executions'`,
    numbers: (most: number) => `generate_series(1, ${most}) AS n`,
    settle: [`VACUUM (ANALYZE) "${schema}".executions`, `VACUUM (ANALYZE) "${schema}".events`],
  };
  return { store, query: async (sql) => (await pool.query(sql)).rows, names };
}
