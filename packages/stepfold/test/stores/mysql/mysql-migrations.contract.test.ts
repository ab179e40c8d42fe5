import type { RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { migrateMysql, mysqlMigrations, mysqlStore } from "../../../src/stores/databases/mysql/index.ts";
import { put } from "../../../src/testing/contract/children/children.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { mysqlServer } from "./mysql-bench.fixture.ts";
import { watched } from "./watched-pool.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

describe.skipIf(!server)("the tables of MySQL", () => {
  it("are made once, however many processes begin at once", async () => {
    const pools = Array.from({ length: 8 }, () => server!.pool({ connectionLimit: 1 }));
    await Promise.all(pools.map((pool) => migrateMysql(pool, { prefix: "eight_" })));
    const store = mysqlStore(pools[0]!, { prefix: "eight_" });
    await store.create(startCommit("a"));
    expect((await store.load("a"))?.version).toBe(0);
    await migrateMysql(pools[1]!, { prefix: "eight_" });
    expect((await store.load("a"))?.version).toBe(0);
    await store.close();
  });

  it("are waited for while another process makes them, also if that takes longer than an answer may take", async () => {
    const [other, pool] = [server!.pool({ connectionLimit: 1 }), server!.pool()];
    const lock = "SHA1(CONCAT('stepfold slow_', ' ', DATABASE()))";
    await other.query(`SELECT GET_LOCK(CONCAT('stepfold ', ${lock}), 5)`);
    const migrating = migrateMysql(pool, { prefix: "slow_" });
    await other.query("SELECT SLEEP(12)");
    await other.query(`SELECT RELEASE_LOCK(CONCAT('stepfold ', ${lock}))`);
    await migrating;
    const store = mysqlStore(pool, { prefix: "slow_" });
    expect(await store.load("a")).toBeNull();
    await store.close();
  });

  it("are finished by the next process when one dies in the middle", async () => {
    const pool = server!.pool();
    const statements = mysqlMigrations("half_").length;
    for (let crash = 1; crash < statements; crash++) {
      let made = 0;
      const dying = watched(pool, (text) => {
        if (/^(CREATE|ALTER|INSERT)/.test(text) && ++made > crash)
          throw Object.assign(new Error("gone"), { code: "PROTOCOL_CONNECTION_LOST" });
      });
      await expect(migrateMysql(dying.pool, { prefix: `half_${crash}_` })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      const store = mysqlStore(pool, { prefix: `half_${crash}_` });
      await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("migrate") });
      await migrateMysql(pool, { prefix: `half_${crash}_` });
      await store.create(startCommit("a"));
      expect((await store.load("a"))?.version).toBe(0);
      await store.close();
    }
  });

  it("of a checkout before the first release are refused, and left alone", async () => {
    const pool = server!.pool();
    await pool.query("CREATE TABLE older_layout (only_row TINYINT NOT NULL PRIMARY KEY, version INT NOT NULL)");
    await pool.query("INSERT INTO older_layout VALUES (1, 4)");
    for (const migrate of [true, false]) {
      const store = mysqlStore(pool, { prefix: "older_", migrate });
      const refused = { code: "STORE_REJECTED", message: expect.stringContaining("before Stepfold's first release") };
      await expect(store.load("a")).rejects.toMatchObject(refused);
      await store.close();
    }
    const [rows] = await pool.query<RowDataPacket[]>("SHOW TABLES LIKE 'older%'");
    expect(rows).toHaveLength(1);
  });

  it("with an earlier number of the layout are refused, and left alone", async () => {
    const pool = server!.pool();
    await pool.query("CREATE TABLE one_layout (only_row TINYINT NOT NULL PRIMARY KEY, layout INT NOT NULL)");
    await pool.query("INSERT INTO one_layout VALUES (1, 1)");
    for (const migrate of [true, false]) {
      const store = mysqlStore(pool, { prefix: "one_", migrate });
      await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED" });
      await store.close();
    }
    const [rows] = await pool.query<RowDataPacket[]>("SELECT layout FROM one_layout");
    expect(rows).toEqual([{ layout: 1 }]);
  });

  it("may be made by hand from the statements", async () => {
    const pool = server!.pool();
    for (const statement of [...mysqlMigrations("hand_"), ...mysqlMigrations("hand_")]) await pool.query(statement);
    const store = mysqlStore(pool, { prefix: "hand_" });
    await store.create(startCommit("a"));
    expect((await store.load("a"))?.version).toBe(0);
    await store.close();
  });

  it("are asked for, with what to do, if they are missing; made meanwhile, the store works", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "missing_" });
    const error = await store.load("a").catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("stepfold migrate") });
    expect((error as Error).message).toContain("migrate: true");
    await migrateMysql(pool, { prefix: "missing_" });
    expect(await store.load("a")).toBeNull();
    await store.close();
  });

  it("of a newer version are refused, and left alone", async () => {
    const pool = server!.pool();
    await migrateMysql(pool, { prefix: "newer_" });
    await pool.query("UPDATE newer_layout SET layout = 99");
    for (const migrate of [true, false]) {
      const store = mysqlStore(pool, { prefix: "newer_", migrate });
      await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("Update Stepfold") });
      await store.close();
    }
    const [rows] = await pool.query<RowDataPacket[]>("SELECT layout FROM newer_layout");
    expect(rows).toMatchObject([{ layout: 99 }]);
  });

  it("of two prefixes know nothing of each other", async () => {
    const pool = server!.pool();
    const [one, two] = ["x_", "y_"].map((prefix) => mysqlStore(pool, { prefix, migrate: true }));
    const first = startCommit("a");
    await one!.create(first);
    await two!.create(startCommit("a"));
    await one!.commit(stepCommit(first));
    expect([(await one!.load("a"))?.version, (await two!.load("a"))?.version]).toEqual([1, 0]);
    await Promise.all([one!.close(), two!.close()]);
  });
});

describe.skipIf(!server)("limits of MySQL", () => {
  it("are the server's: a value that no packet holds is refused when the store opens, with what to do", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "limits_", migrate: true, maxValueBytes: 2 ** 33 });
    const error = await store.load("a").catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("max_allowed_packet") });
    await store.close();
  });

  it("of one statement are kept when many large commits go together", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "large_", migrate: true });
    const firsts = Array.from({ length: 12 }, (_, index) =>
      startCommit(`id-${index}`, { input: "x".repeat(2 ** 21), metadata: { text: "y".repeat(2 ** 21) } }),
    );
    const key = "k".repeat(2 ** 20);
    await Promise.all(firsts.map((first) => store.create(first)));
    const children = Array.from({ length: 12 }, (_, index) => put(`${key}${index}`, { input: index }));
    await Promise.all(
      firsts.map((first) => store.commit(stepCommit(first, { output: "z".repeat(2 ** 21), children: children.slice(0, 3) }))),
    );
    expect((await store.load("id-7"))?.version).toBe(1);
    expect(Object.keys((await store.load("id-11"))?.childStates ?? {})).toEqual(children.slice(0, 3).map(({ key: name }) => name));
    await expect(store.commit(stepCommit(firsts[0]!, { output: "x".repeat(2 ** 23) }))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await store.close();
  });
});
