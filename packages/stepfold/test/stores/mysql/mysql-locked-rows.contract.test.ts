// Rows that another session has locked, on MySQL and MariaDB.
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { startCommit } from "../../../src/testing/index.ts";
import { isGivenUpWithinLease, isNotMadeLater, isPassedOverByClaims, isPassedOverOnceLost } from "../locked-row.fixture.ts";
import { mysqlServer } from "./mysql-bench.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

const lock = async (prefix: string) => {
  const other = await server!.pool({ connectionLimit: 1 }).getConnection();
  await other.query("START TRANSACTION");
  await other.query(`SELECT 1 FROM ${prefix}executions WHERE id = 'locked' FOR UPDATE`);
  return async () => {
    await other.query("ROLLBACK");
    other.release();
  };
};

describe.skipIf(!server)("rows of MySQL that another session has locked", () => {
  it("are not written after the writer was refused", { timeout: 30_000 }, async () => {
    const store = mysqlStore(server!.pool(), { prefix: "late_", migrate: true });
    await isNotMadeLater(store, () => lock("late_"));
    await store.close();
  });

  it("are passed over by claims, also of executions that share a limit", { timeout: 30_000 }, async () => {
    const store = mysqlStore(server!.pool(), { prefix: "passed_", migrate: true });
    await isPassedOverByClaims(store, () => lock("passed_"));
    await store.close();
  });

  it("are passed over by claims where the holder was lost", { timeout: 30_000 }, async () => {
    const store = mysqlStore(server!.pool(), { prefix: "lost_", migrate: true });
    await isPassedOverOnceLost(store, () => lock("lost_"));
    await store.close();
  });

  it("are not waited for longer than a short lease", { timeout: 30_000 }, async () => {
    const store = mysqlStore(server!.pool(), { prefix: "short_", migrate: true });
    await isGivenUpWithinLease(store, () => lock("short_"));
    await store.close();
  });

  it("a session has its settings again after a write", async () => {
    const pool = server!.pool({ connectionLimit: 1 });
    const settings = "SELECT @@autocommit AS a, @@wait_timeout AS w, @@innodb_lock_wait_timeout AS l";
    const before = await pool.query(settings);
    const store = mysqlStore(pool, { prefix: "settings_", migrate: true });
    await store.create(startCommit("a"));
    expect((await pool.query(settings))[0]).toEqual(before[0]);
    await store.close();
  });
});
