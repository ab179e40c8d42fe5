import type { Pool, RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Claim } from "../../../src/ports/snapshot-store.ts";
import type { MysqlConnection, MysqlPool } from "../../../src/stores/databases/mysql/mysql-client.ts";
import { dueStatement, exemptStatement, keyedWindowStatement, keyScanStatement } from "../../../src/stores/databases/mysql/mysql-rows.ts";
import { tablesOf } from "../../../src/stores/databases/mysql/mysql-statement.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { wait } from "../../testing/store-contract.fixture.ts";
import { expectEachKeyItsTurn, expectLimits, expectNoReturn, permitted } from "../sqlite/permits.fixture.ts";
import { hostileOptions, mysqlServer } from "./mysql-bench.fixture.ts";
import { watched } from "./watched-pool.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

const lease = { owner: "worker", leaseMs: 600_000 };

describe.skipIf(!server)("taking turns in MySQL", () => {
  it("lets nobody back whose place was given to another one", async () => {
    const store = mysqlStore(server!.pool(), { prefix: "back_", migrate: true });
    await expectNoReturn(store, wait);
    await store.close();
  });

  it("gives each key its turn behind many that wait for one", async () => {
    const store = mysqlStore(server!.pool(), { prefix: "each_", migrate: true });
    await expectEachKeyItsTurn(store);
    await store.close();
  });

  it("never holds more than may be, and rejects nobody, however many claim over several pools", { timeout: 60_000 }, async () => {
    const options = [{}, hostileOptions, { connectionLimit: 1 }];
    const stores = options.map((one) => mysqlStore(server!.pool(one), { prefix: "limits_", migrate: true }));
    await expectLimits(stores);
    for (const store of stores) await store.close();
  });

  it("undoes a claim that took longer than its lease, so that it does not count as lost", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "late_", migrate: true });
    await store.create(startCommit("a"));
    let isSlow = true;
    // each pause is shorter than the time for which the server waits for the next statement
    const slow = pausing(pool, (text) => wait(isSlow && /FOR UPDATE SKIP LOCKED|SET crashes/.test(text) ? 600 : 0));
    const behind = mysqlStore(slow, { prefix: "late_" });
    for (let tries = 0; tries < 2; tries++) {
      const refused = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("longer than the lease of 1000 ms") };
      await expect(behind.claim({ owner: "slow", leaseMs: 1_000, limit: 1 })).rejects.toMatchObject(refused);
    }
    isSlow = false;
    expect(await behind.claim({ ...lease, limit: 1 })).toEqual([expect.objectContaining({ workflowId: "a", expired: 0, crashes: 0 })]);
    await Promise.all([store.close(), behind.close()]);
  });

  it("counts and takes while nobody else of the key does", async () => {
    const pool = server!.pool();
    const other = mysqlStore(pool, { prefix: "pause_", migrate: true });
    for (const id of ["a", "b", "c"]) await other.create(permitted(id, "x"));
    let meanwhile: Promise<readonly Claim[]> | null = null;
    const store = mysqlStore(
      pausing(pool, async (text) => {
        // the claim has counted the holders, and is about to write which execution it takes
        if (meanwhile || !text.startsWith("INSERT INTO `pause_records`")) return;
        meanwhile = other.claim({ ...lease, limit: 1, permit: "x" });
        await Promise.race([meanwhile, wait(400)]);
      }),
      { prefix: "pause_" },
    );
    const claimed = [...(await store.claim({ ...lease, limit: 1 })), ...((await meanwhile) ?? [])];
    expect(meanwhile).not.toBeNull();
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(["a"]);
    await Promise.all([store.close(), other.close()]);
  });

  it("waits for nobody who commits, and is waited for by nobody but those of its key", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "wait_", migrate: true });
    const firsts = [permitted("a", "x"), permitted("b", "x"), permitted("c", "y"), startCommit("d")];
    for (const first of firsts) await store.create(first);
    const [held] = await claimAndLoad(store, { ...lease, limit: 1, workflowId: "a" });
    const other = await pool.getConnection();
    await other.query("START TRANSACTION");
    await other.query("SELECT 1 FROM wait_records WHERE kind = 'permit' AND name = 'x' FOR UPDATE");
    const ids = async (asked = {}) => (await store.claim({ ...lease, limit: 10, ...asked })).map(({ workflowId }) => workflowId);
    // a claim that finds no room asks for no lock
    expect((await ids()).sort()).toEqual(["c", "d"]);
    expect(await ids({ permit: "x" })).toEqual([]);
    const next = stepCommit(held!.snapshot, { fence: held!.claim.fence });
    await store.commit(next);
    await store.renew(held!.claim);
    await store.release(held!.claim, 1);
    const waiting = ids({ permit: "x" });
    await other.query("ROLLBACK");
    other.release();
    expect(await waiting).toEqual(["b"]);
    await store.close();
  });

  it("forgets keys that no execution has", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "keys_", migrate: true });
    for (const key of ["x", "y"]) {
      const first = permitted(key, key);
      await store.create(first);
      await store.claim({ ...lease, limit: 1 });
      if (key === "x") await store.commit(stepCommit(first, { status: "completed" }));
    }
    const keys = async () => {
      const [rows] = await pool.query<RowDataPacket[]>(
        "SELECT CAST(name AS CHAR) AS permit_key FROM keys_records WHERE kind = 'permit' ORDER BY name",
      );
      return rows.map((row) => row.permit_key as string);
    };
    expect(await keys()).toEqual(["x", "y"]);
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    expect(await keys()).toEqual(["y"]);
    await store.close();
  });

  it("refuses a key that the column would cut off", async () => {
    const store = mysqlStore(server!.pool(), { prefix: "cut_", migrate: true });
    await expect(store.create(permitted("a", "😀".repeat(256)))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await store.close();
  });
});

describe.skipIf(!server)("what taking turns costs in MySQL", () => {
  it("is nothing where nobody does: not a statement more", async () => {
    const seen = watched(server!.pool());
    const store = mysqlStore(seen.pool, { prefix: "nobody_", migrate: true });
    await store.load("a");
    const textsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
      seen.texts.length = 0;
      await work();
      return [...seen.texts];
    };
    const claim = () => store.claim({ ...lease, limit: 10 });
    // one statement reads the due executions, one ends the transaction
    expect((await textsOf(claim)).length).toBe(2);
    await store.create(startCommit("a"));
    // five more statements lock and change rows
    const texts = await textsOf(claim);
    expect(texts.length).toBe(2 + 5);
    expect(texts.filter((text) => text.includes("nobody_records"))).toEqual([]);
    expect((await textsOf(claim)).length).toBe(2);
    await store.close();
  });

  it("is the same few round trips for sixteen keys as for one where no execution may be claimed", async () => {
    const seen = watched(server!.pool());
    const store = mysqlStore(seen.pool, { prefix: "sixteen_", migrate: true });
    await Promise.all(Array.from({ length: 32 }, (_, index) => store.create(permitted(`id-${index}`, `key-${index % 16}`))));
    expect((await store.claim({ ...lease, limit: 32 })).length).toBe(16);
    seen.texts.length = 0;
    expect(await store.claim({ ...lease, limit: 32 })).toEqual([]);
    // three reads of due executions (two statements each), the records of all keys, the clock, and the executions that have permits
    expect(seen.texts.length).toBe(3 * 2 + 3 + 2 + 3);
    await store.close();
  });

  it("reads few rows of an index among 20,000 that wait or sleep", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "many_", migrate: true });
    await store.create(permitted("held", "k"));
    expect(await store.claim({ ...lease, limit: 1 })).toHaveLength(1);
    await pool.query(`
      INSERT INTO many_executions (id, incarnation, definition_id, definition, metadata, labels, creator, version, status, head, size_bytes,
        fence, created_at, updated_at, wake_at, due_at, permit_key, permit_limit, exempt_at)
      SELECT CONCAT('id-', n.seq), 'i', 'd', '{}', '{}', '', '', 0, 'paused', '{}', 2, 0, n.seq, n.seq,
        IF(n.seq % 2, n.seq, 9e14), IF(n.seq % 2, n.seq, 9e14), IF(n.seq % 2, 'k', CONCAT('key-', n.seq)), 1, IF(n.seq % 3, 9e14, NULL)
      FROM seq_1_to_20000 AS n`);
    await store.create(permitted("free", "z"));
    await pool.query("ANALYZE TABLE many_executions");
    const tables = tablesOf("many_");
    const bound = (sql: string): string => sql.replaceAll("CAST(? AS SIGNED)", "0");
    const keys = await planOf(pool, bound(keyScanStatement(tables)).replace("?", "'key-3'"));
    expect(keys.map(({ key }) => key)).toEqual(["due"]);
    const waiting = await planOf(pool, bound(keyedWindowStatement(tables)));
    expect(waiting.map(({ key }) => key)).toEqual(["waiting"]);
    const first = await planOf(
      pool,
      bound(dueStatement(tables, "k", "seq"))
        .replace("?", "'k'")
        .replace("?", "1"),
    );
    expect(first.map(({ key }) => key)).toEqual(["due"]);
    const exempt = await planOf(pool, bound(exemptStatement(tables)).replace("?", "10"));
    expect(exempt.map(({ key, rows }) => [key, rows])).toEqual([["exempt", 1]]);
    for (const { extra } of [...first, ...keys, ...exempt]) expect(extra).not.toMatch(/filesort/);
    expect((await store.claim({ ...lease, limit: 1 })).map(({ workflowId }) => workflowId)).toEqual(["free"]);
    expect(await store.claim({ ...lease, limit: 1 })).toEqual([]);
    await store.close();
  });
});

/** A pool that waits for `before` in front of every statement. */
function pausing(pool: Pool, before: (text: string) => Promise<void>): MysqlPool {
  return {
    async getConnection() {
      const connection: MysqlConnection = await pool.getConnection();
      return {
        async execute(statement) {
          await before(statement.sql);
          return connection.execute(statement);
        },
        query: (text) => connection.query(text),
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      };
    },
  };
}

async function planOf(pool: Pool, sql: string): Promise<{ key: string | null; rows: number; extra: string }[]> {
  const [rows] = await pool.query<RowDataPacket[]>(`EXPLAIN ${sql}`);
  return rows.map((row) => ({ key: row.key as string | null, rows: Number(row.rows), extra: (row.Extra ?? "") as string }));
}
