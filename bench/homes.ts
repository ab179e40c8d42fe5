import { DatabaseSync } from "node:sqlite";
import type { SnapshotStore } from "stepfold";
import type { Library } from "./library.ts";
import { serverUrl } from "./peer.ts";

/** Where a load works. */
export interface Place {
  readonly library: Library;
  /** Of a file that is not there yet, and is removed. */
  readonly path: string;
  /** Has something done before the process ends; what came last is done first. */
  readonly atEnd: (work: () => Promise<void>) => void;
}

/** A store in a place of its own, and its database. */
export interface Home {
  readonly store: SnapshotStore;
  /** Runs a statement; gives the rows that it answers with. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly names: HomeNames;
}

/** How a database calls what multiplying rows takes. */
interface HomeNames {
  readonly executions: string;
  /** Selects the columns of that table, by `name`. */
  readonly columns: string;
  /** A table of the numbers `n` from 1 to `most`. */
  readonly numbers: (most: number) => string;
  /** What the database does by itself some time after so many rows came. */
  readonly settle: readonly string[];
}

/** On a new SQLite file. */
export async function sqliteHome({ library, path, atEnd }: Place): Promise<Home> {
  const { sqliteStore } = await library("./stores/sqlite");
  const store = sqliteStore(path);
  await store.now(); // which makes the tables
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

/** In a schema of its own on PostgreSQL, which is dropped at the end. */
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
