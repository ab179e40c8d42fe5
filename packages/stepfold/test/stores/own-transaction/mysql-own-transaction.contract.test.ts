import { createConnection, createPool, type PoolConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { migrateMysql, mysqlStore } from "../../../src/stores/databases/mysql/index.ts";
import { type OwnTransaction, type OwnTransactionBench, ownTransactionCases, within } from "./own-transaction.fixture.ts";

const url = await serviceUrl("mariadb");
const database = `own_${process.pid}`;
const uri = url === null ? "" : Object.assign(new URL(url), { pathname: `/${database}` }).href;
const pool = createPool({ uri, connectionLimit: 10 });
beforeAll(async () => {
  if (url === null) return;
  const admin = await createConnection(url);
  await admin.query(`CREATE DATABASE ${database}`);
  await admin.end();
});
afterAll(async () => {
  if (url !== null) await pool.query(`DROP DATABASE ${database}`);
  await pool.end();
});

interface Bench extends OwnTransactionBench {
  begin(): Promise<OwnTransaction & { readonly connection: PoolConnection }>;
}

let benches = 0;
async function open(): Promise<Bench> {
  const prefix = `t${++benches}_`;
  await migrateMysql(pool, { prefix });
  await pool.query(`CREATE TABLE ${prefix}notes (note VARCHAR(50) NOT NULL)`);
  return {
    store: mysqlStore(pool, { prefix }),
    async begin() {
      const connection = await pool.getConnection();
      onTestFinished(() => connection.release());
      await connection.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
      await connection.beginTransaction();
      return {
        connection,
        store: mysqlStore(connection, { prefix }),
        insert: async (note) => void (await connection.execute(`INSERT INTO ${prefix}notes VALUES (?)`, [note])),
        end: async (how) => void (await connection.query(how)),
      };
    },
    async notes() {
      const [rows] = await pool.query(`SELECT note FROM ${prefix}notes ORDER BY note`);
      return (rows as { note: string }[]).map(({ note }) => note);
    },
  };
}

ownTransactionCases("MariaDB", url !== null, open);

describe.skipIf(url === null)("a store over a connection to MariaDB", () => {
  it("works only inside a transaction, and creates no tables there", async () => {
    const connection = await pool.getConnection();
    onTestFinished(() => connection.release());
    await migrateMysql(pool, { prefix: "none_" });
    const store = mysqlStore(connection, { prefix: "none_" });
    await expect(store.list()).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("beginTransaction()") });
    expect(() => mysqlStore(connection, { migrate: true })).toThrow("ends the transaction");
    expect(() => mysqlStore({} as never)).toThrow('a pool that was created with createPool of "mysql2/promise", or a connection');
  });

  it("undoes only its own work if that fails", async () => {
    const bench = await open();
    const own = await bench.begin();
    await own.insert("kept");
    await pool.query(`DROP TABLE t${benches}_events`);
    await expect(within(own).start("note", { workflowId: "a" })).rejects.toMatchObject({ code: "STORE_REJECTED" });
    await own.end("COMMIT");
    expect(await bench.notes()).toEqual(["kept"]);
    expect((await pool.query(`SELECT id FROM t${benches}_executions`))[0]).toEqual([]);
  });

  it("writes nothing more once the server has undone the transaction", async () => {
    const bench = await open();
    await within(bench).start("order", { workflowId: "o-1", input: { item: "chair" } });
    const own = await bench.begin();
    await own.insert("gone");
    const rival = await pool.getConnection();
    onTestFinished(() => rival.release());
    await rival.beginTransaction();
    await rival.query(`SELECT id FROM t${benches}_executions WHERE id = 'o-1' FOR UPDATE`);
    // of two transactions that wait for each other the server undoes the one that has written less
    await rival.query(`INSERT INTO t${benches}_notes SELECT 'rival' FROM seq_1_to_500`);
    const signalled = (await within(own).get("o-1")).signal("paid");
    const deadlock = Promise.all([rival.query(`UPDATE t${benches}_notes SET note = 'mine'`), signalled]);
    await expect(deadlock).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("begin anew") });
    await rival.query("ROLLBACK");
    await expect(own.store.list()).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("begin anew") });
    await own.end("ROLLBACK");
    expect(await bench.notes()).toEqual([]);
    expect((await bench.store.loadHead("o-1"))?.inbox).toBeUndefined();
  });
});
