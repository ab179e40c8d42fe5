import type { Pool, RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { migrateMysql, mysqlMigrations, mysqlStore } from "../../../src/stores/databases/mysql/index.ts";
import { put } from "../../../src/testing/contract/records/children.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { mysqlServer } from "./mysql-bench.fixture.ts";
import { watched } from "./watched-pool.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

/** Takes back what came after the second layout, but for `crashes`. */
async function toLayout2(pool: Pool, prefix: string): Promise<void> {
  await pool.query(`ALTER TABLE ${prefix}executions DROP KEY due_by_key, DROP KEY waiting, DROP KEY held, ADD KEY due (due_at, seq)`);
  for (const column of ["turn_at", "turn_until", "permit_key", "permit_limit"])
    await pool.query(`ALTER TABLE ${prefix}executions DROP COLUMN ${column}`);
  await pool.query(`DROP TABLE ${prefix}permits`);
  await pool.query(`UPDATE ${prefix}layout SET version = 2`);
}

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

  it("of an earlier version are brought up to date: what was due or held there is", async () => {
    const pool = server!.pool();
    const made = mysqlStore(pool, { prefix: "earlier_", migrate: true });
    await made.create(startCommit("due"));
    await made.create(startCommit("held"), { claim: { owner: "worker", leaseMs: 1 } });
    await made.close();
    await toLayout2(pool, "earlier_");
    await pool.query("ALTER TABLE earlier_executions DROP COLUMN crashes");
    await pool.query("UPDATE earlier_executions SET due_at = IF(id = 'due', 0, due_at - 60000)");
    const store = mysqlStore(pool, { prefix: "earlier_", migrate: true });
    const claimed = await store.claim({ owner: "sweeper", leaseMs: 60_000, limit: 10, overdueMs: 30_000 });
    expect(claimed.map(({ claim }) => [claim.workflowId, claim.crashes])).toEqual([
      ["due", 0],
      ["held", 1],
    ]);
    await store.close();
  });

  it("that have the new column already are taken as they are, also by servers that cannot be asked to add it once", async () => {
    const pool = server!.pool();
    await migrateMysql(pool, { prefix: "there_" });
    await pool.query("UPDATE there_layout SET version = 2");
    // as MySQL does, to which this is a comment
    const older = watched(pool, (text) => {
      if (/ALTER.* ADD /s.test(text)) throw Object.assign(new Error("there"), { code: "ER_DUP_FIELDNAME", errno: 1060 });
      if (/ALTER.* DROP /s.test(text)) throw Object.assign(new Error("gone"), { code: "ER_CANT_DROP_FIELD_OR_KEY", errno: 1091 });
    });
    await migrateMysql(older.pool, { prefix: "there_" });
    const store = mysqlStore(pool, { prefix: "there_" });
    await store.create(startCommit("a"));
    expect((await store.load("a"))?.version).toBe(0);
    await store.close();
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
    await pool.query("UPDATE newer_layout SET version = 99");
    for (const migrate of [true, false]) {
      const store = mysqlStore(pool, { prefix: "newer_", migrate });
      await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("Update Stepfold") });
      await store.close();
    }
    const [rows] = await pool.query<RowDataPacket[]>("SELECT version FROM newer_layout");
    expect(rows).toMatchObject([{ version: 99 }]);
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
