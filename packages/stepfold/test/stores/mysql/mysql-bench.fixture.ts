import { createPool, type Pool, type PoolOptions } from "mysql2/promise";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import type { StoreBench } from "../../../src/testing/index.ts";
import { wait } from "../../testing/store-contract.fixture.ts";

/** A server with a new database for the tests of one file. */
export interface MysqlServer {
  readonly database: string;
  readonly uri: string;
  /** Makes a pool on the database. It is closed with the server. */
  pool(options?: PoolOptions): Pool;
  /**
   * Makes an empty store for a case, over a pool with these options whose sessions have these settings. When the store is closed, its
   * tables are emptied and used for another store, because making tables takes longer than most cases.
   */
  bench(options?: PoolOptions, settings?: readonly string[]): Promise<StoreBench>;
  close(): Promise<void>;
}

/** Options of a pool that change how the driver reads and writes. */
export const hostileOptions: PoolOptions = {
  ...{ supportBigNumbers: true, bigNumberStrings: true, decimalNumbers: true, dateStrings: true, rowsAsArray: true, nestTables: "_" },
  ...{ namedPlaceholders: true, charset: "latin1", timezone: "+05:30", flags: ["-FOUND_ROWS"], disableEval: true },
  typeCast: (field, next) => (field.type === "LONGLONG" ? `${String(next())}n` : next()),
};

/** Settings of a session that change the meaning of statements. Each `turn` gets other settings, because some exclude each other. */
export function hostileSettings(turn: number): string[] {
  const isolation = ["READ UNCOMMITTED", "SERIALIZABLE", "REPEATABLE READ"][turn % 3];
  return [
    `SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`,
    `SET SESSION sql_mode = '${turn % 2 ? "" : "ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION"}'`,
    "SET SESSION time_zone = '-07:00'",
    "SET SESSION lc_messages = 'de_DE'",
    "SET SESSION group_concat_max_len = 4",
    "SET SESSION autocommit = 0",
  ];
}

let databases = 0;

/** Makes a database on the server of a URL. */
export async function mysqlServer(url: string): Promise<MysqlServer> {
  const database = `stepfold_${process.pid}_${Date.now().toString(36)}_${++databases}`;
  const uri = Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const admin = createPool({ uri: url, connectionLimit: 1 });
  await admin.query(`CREATE DATABASE ${database}`);
  const pools: Pool[] = [];
  const prefixes: string[] = [];
  let cases = 0;
  const takePrefix = async (): Promise<string> => {
    const used = prefixes.pop();
    if (used === undefined) return `case_${++cases}_`;
    for (const table of ["executions", "events", "children", "records", "blobs"])
      await admin.query(`DELETE FROM ${database}.${used}${table}`);
    return used;
  };
  const pool = (options: PoolOptions = {}): Pool => {
    pools.push(createPool({ uri, connectionLimit: 10, ...options }));
    return pools.at(-1)!;
  };
  return {
    database,
    uri,
    pool,
    async bench(options = {}, settings = []) {
      const prefix = await takePrefix();
      const own = pool({ connectionLimit: 8, ...options });
      const threads: number[] = [];
      own.on("connection", (connection) => {
        threads.push(connection.threadId);
        for (const setting of settings) connection.query(setting);
      });
      const open = (): SnapshotStore => mysqlStore(own, { prefix, migrate: true, maxValueBytes: 2 ** 20, idempotencyRetentionMs: 3_000 });
      const store = open();
      return {
        store: {
          ...store,
          async close() {
            await store.close();
            await own.end();
            prefixes.push(prefix);
          },
        },
        retentionMs: 3_000,
        open: async () => open(),
        advance: wait,
        async damage(workflowId) {
          await admin.query(`UPDATE ${database}.${prefix}executions SET head = '{' WHERE id = ?`, [Buffer.from(workflowId)]);
        },
        async cut() {
          for (const thread of threads) await admin.query(`KILL ${thread}`).catch(() => undefined);
        },
      };
    },
    async close() {
      for (const one of pools) await one.end().catch(() => {});
      await admin.query(`DROP DATABASE ${database}`);
      await admin.end();
    },
  };
}
