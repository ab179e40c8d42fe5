import { connect, createServer, type Socket } from "node:net";
import type { Pool, PoolConnection, RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { MysqlConnection, MysqlPool } from "../../../src/stores/databases/mysql/mysql-client.ts";
import { mysqlError } from "../../../src/stores/databases/mysql/mysql-error.ts";
import { onConnection } from "../../../src/stores/databases/mysql/mysql-session.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { wait } from "../../testing/store-contract.fixture.ts";
import { goOnBesideLock } from "../locked-row.fixture.ts";
import { mysqlServer } from "./mysql-bench.fixture.ts";
import { watched } from "./watched-pool.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

describe.skipIf(!server)("a MySQL store in trouble", () => {
  it("reports a commit whose connection was killed as unavailable, has written nothing of it, and goes on", async () => {
    const pool = server!.pool({ connectionLimit: 1 });
    const store = mysqlStore(pool, { prefix: "killed_", migrate: true });
    const first = startCommit("a");
    await store.create(first);
    const other = await server!.pool().getConnection();
    await other.query("START TRANSACTION");
    await other.query("SELECT 1 FROM killed_executions WHERE id = 'a' FOR UPDATE");
    const second = stepCommit(first);
    const committed = store.commit(second).catch((error: unknown) => error);
    await other.query(`KILL ${await waitingThread(server!.database)}`);
    expect(await committed).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause: expect.any(Error) });
    await other.query("ROLLBACK");
    other.release();
    expect((await store.load("a"))?.version).toBe(0);
    await store.commit(second);
    expect((await store.load("a"))?.version).toBe(1);
    await store.close();
  });

  it("reports a statement as unavailable if the server has ended its connection since the statement before", async () => {
    const pool = server!.pool({ connectionLimit: 1 });
    const other = server!.pool();
    const paused = onConnection(pool, "updateById", async (ask) => {
      const [row] = await ask("SELECT CONNECTION_ID() AS id");
      await other.query(`KILL ${Number(row!.id)}`);
      // the driver needs a moment to hear that the connection has ended
      await wait(500);
      await ask("SELECT 1");
    });
    const cause = await paused.catch((error: unknown) => error);
    expect(mysqlError(cause)).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    // the pool makes another connection
    expect(await onConnection(pool, "updateById", (ask) => ask("SELECT 1 AS one"))).toMatchObject([{ one: expect.anything() }]);
  });

  it("acknowledges a commit that is repeated because its acknowledgement was lost", async () => {
    const proxy = await losingProxy(new URL(server!.uri));
    const pool = server!.pool({
      host: "127.0.0.1",
      port: proxy.port,
      uri: server!.uri.replace(/:\d+\//, `:${proxy.port}/`),
      connectionLimit: 2,
    });
    const store = mysqlStore(pool, { prefix: "lost_", migrate: true });
    await store.load("a");
    const first = startCommit("a");
    const claim = await insist(proxy, () => store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } }));
    expect(claim).toMatchObject({ workflowId: "a", fence: 1 });
    const second = stepCommit(first, { outputs: [1, 2] });
    await insist(proxy, () => store.commit(second));
    expect((await store.load("a"))?.version).toBe(2);
    expect((await store.events("a", -1, 10)).length).toBe(3);
    await store.close();
    await pool.end();
    proxy.close();
  });

  it("AUDIT 5: executions go on beside one whose row somebody else has locked", async () => {
    const store = mysqlStore(server!.pool(), { prefix: "locked_", migrate: true });
    await goOnBesideLock(store, async () => {
      const other = await server!.pool().getConnection();
      await other.query("START TRANSACTION");
      await other.query("SELECT 1 FROM locked_executions WHERE id = 'locked' FOR UPDATE");
      return async () => {
        await other.query("ROLLBACK");
        other.release();
      };
    });
    await store.close();
  });

  it("works with a pool of one connection, whatever is asked at once", async () => {
    const pool = server!.pool({ connectionLimit: 1, queueLimit: 0 });
    const stores = [mysqlStore(pool, { prefix: "one_", migrate: true }), mysqlStore(pool, { prefix: "one_", migrate: true })];
    const [store] = stores as [SnapshotStore];
    const firsts = Array.from({ length: 20 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(firsts.map((first, index) => stores[index % 2]!.create(first)));
    const claimed = stores.map((each) => each.claim({ owner: "worker", leaseMs: 60_000, limit: 10 }));
    const others = [
      store.list(),
      store.load("id-1"),
      store.events("id-1", -1, 1),
      store.prune({ before: 0 }),
      store.delete("nobody").catch(() => null),
    ];
    const starters = Array.from({ length: 100 }, (_, index) => stores[index % 2]!.create(startCommit("same", { input: index })));
    const settled = await Promise.allSettled(starters);
    expect(settled.filter(({ status }) => status === "fulfilled").length).toBe(1);
    await Promise.all(others);
    const taken = (await Promise.all(claimed)).flat();
    expect(new Set(taken.map(({ workflowId }) => workflowId)).size).toBe(20);
    for (const each of stores) await each.close();
  });

  it("lets exactly one of eight racing commits of two handles win, 200 times", { timeout: 120_000 }, async () => {
    const stores = [0, 1].map(() => mysqlStore(server!.pool({ connectionLimit: 4 }), { prefix: "race_", migrate: true }));
    let last = startCommit("a");
    await stores[0]!.create(last);
    for (let round = 0; round < 200; round++) {
      const commits = Array.from({ length: 8 }, (_, index) => stepCommit(last, { output: index }));
      const settled = await Promise.allSettled(commits.map((commit, index) => stores[index % 2]!.commit(commit)));
      const winners = settled.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
      expect(winners.length).toBe(1);
      for (const one of settled) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "VERSION_CONFLICT" });
      last = commits[winners[0]!]!;
    }
    expect((await stores[0]!.events("a", -1, 1000)).length).toBe(201);
    for (const store of stores) await store.close();
  });

  it("gives each of many racing groups its own verdicts", async () => {
    const stores = [0, 1, 2].map(() => mysqlStore(server!.pool({ connectionLimit: 4 }), { prefix: "groups_", migrate: true }));
    const firsts = Array.from({ length: 60 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(firsts.map((first, index) => stores[index % 3]!.create(first)));
    // all three stores commit to every execution, in different orders, and at the same time create the same ids
    const commits = stores.map(() => firsts.map((first) => stepCommit(first)));
    const settled = await Promise.all(
      stores.map((store, handle) => {
        const order = handle === 1 ? [...firsts.keys()].reverse() : [...firsts.keys()];
        return Promise.all(
          order.map(async (index) => {
            const again = store.create(startCommit(`id-${index}`)).catch((error: unknown) => error);
            const won = await store.commit(commits[handle]![index]!).then(
              () => true,
              () => false,
            );
            expect(await again).toMatchObject({ code: "WORKFLOW_EXISTS" });
            return { index, won };
          }),
        );
      }),
    );
    const wins = settled.flat().filter(({ won }) => won);
    expect(wins.map(({ index }) => index).sort((a, b) => a - b)).toEqual([...firsts.keys()]);
    for (const store of stores) await store.close();
  });

  it("frees the rows of a process that stops in the middle of a commit", { timeout: 60_000 }, async () => {
    const store = mysqlStore(server!.pool(), { prefix: "frozen_", migrate: true });
    const first = startCommit("a");
    await store.create(first);
    const pool = server!.pool();
    const stopped = mysqlStore(stopping(pool, "INSERT INTO `frozen_events`"), { prefix: "frozen_" });
    stopped.commit(stepCommit(first, { output: "never" })).catch(() => undefined);
    await lockedRow(server!.database);
    const began = Date.now();
    await store.commit(stepCommit(first, { output: "after" }));
    expect(Date.now() - began).toBeLessThan(20_000);
    expect((await store.load("a"))?.context.step?.map(({ output }) => output)).toEqual(["after"]);
    await store.close();
  });

  it("gives sessions back with the settings that they had", async () => {
    for (const autocommit of [0, 1]) {
      const pool = server!.pool({ connectionLimit: 1 });
      await pool.query(`SET SESSION autocommit = ${autocommit}, wait_timeout = 1234`);
      const failing = { now: false };
      const under = watched(pool, (text) => {
        if (failing.now && text.startsWith("INSERT INTO")) throw Object.assign(new Error("no"), { errno: 1062, code: "ER_DUP_ENTRY" });
      });
      const store = mysqlStore(under.pool, { prefix: `back_${autocommit}_`, migrate: true });
      const expectSettings = async () => {
        const [rows] = await pool.query<RowDataPacket[]>("SELECT @@autocommit AS autocommit, @@wait_timeout AS wait");
        expect(rows).toMatchObject([{ autocommit, wait: 1234 }]);
      };
      const first = startCommit("a");
      await store.create(first);
      await expectSettings();
      await store.commit(stepCommit(first));
      await expectSettings();
      failing.now = true;
      await expect(store.create(startCommit("b"))).rejects.toMatchObject({ code: "STORE_REJECTED" });
      await expectSettings();
      await store.close();
    }
  });

  it("finds nothing due without waiting for those who write, and leaves no lock", async () => {
    const pool = server!.pool();
    const seen = watched(pool);
    const store = mysqlStore(seen.pool, { prefix: "poll_", migrate: true });
    await store.create(startCommit("a", { status: "paused" }));
    await store.create(startCommit("b"), { claim: { owner: "worker", leaseMs: 60_000 } });
    const other = await pool.getConnection();
    await other.query("START TRANSACTION");
    await other.query("SELECT 1 FROM poll_executions FOR UPDATE");
    seen.texts.length = 0;
    expect(await store.claim({ owner: "poller", leaseMs: 1000, limit: 10 })).toEqual([]);
    expect(seen.texts.filter((text) => /FOR UPDATE|UPDATE `/.test(text))).toEqual([]);
    await other.query("ROLLBACK");
    other.release();
    expect(seen.open).toBe(0);
    await store.close();
  });

  it("claims past what somebody is writing", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "past_", migrate: true });
    for (const id of ["a", "b", "c"]) await store.create(startCommit(id));
    const other = await pool.getConnection();
    await other.query("START TRANSACTION");
    await other.query("SELECT 1 FROM past_executions WHERE id = 'a' FOR UPDATE");
    const claimed = await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 });
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(["b", "c"]);
    await other.query("ROLLBACK");
    other.release();
    expect((await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 })).map(({ workflowId }) => workflowId)).toEqual(["a"]);
    await store.close();
  });

  it("refuses what contradicts the history that is there, and writes nothing", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "broken_", migrate: true });
    const first = startCommit("a");
    await store.create(first);
    await pool.query("INSERT INTO broken_events SELECT execution, 1, 'x', event FROM broken_events");
    const settled = await Promise.allSettled([store.commit(stepCommit(first, { outputs: [1, 2, 3] })), store.create(startCommit("b"))]);
    expect(settled).toMatchObject([{ status: "rejected", reason: { code: "STORE_REJECTED" } }, { status: "fulfilled" }]);
    const versions = (await store.list()).items.map(({ workflowId, version }) => [workflowId, version]);
    expect(versions).toEqual([
      ["b", 0],
      ["a", 0],
    ]);
    await store.close();
  });
});

/** The server caches its list of transactions until nobody has asked for 0.1 s, so questions need a longer pause between them. */
const transactionsAreKeptMs = 150;

/** A pool whose process stops for ever before it sends a statement that begins with `before`. */
function stopping(pool: Pool, before: string): MysqlPool {
  return {
    async getConnection() {
      const connection: MysqlConnection = await pool.getConnection();
      // the stopped process does not hear that the server ends the connection
      (connection as unknown as PoolConnection).on("error", () => undefined);
      return {
        execute: (statement) => (statement.sql.startsWith(before) ? new Promise(() => undefined) : connection.execute(statement)),
        query: (text) => connection.query(text),
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      };
    },
  };
}

/** Resolves once a transaction holds a row. */
async function lockedRow(database: string): Promise<void> {
  const pool = server!.pool({ connectionLimit: 1 });
  for (;;) {
    const [rows] = await pool.query<RowDataPacket[]>(
      "SELECT 1 FROM information_schema.innodb_trx JOIN information_schema.processlist AS p ON p.id = trx_mysql_thread_id WHERE trx_rows_modified > 0 AND p.db = ?",
      [database],
    );
    if (rows[0]) return;
    await wait(transactionsAreKeptMs);
  }
}

/** Returns the id of the connection that waits for a lock, as soon as there is one. */
async function waitingThread(database: string): Promise<number> {
  const pool = server!.pool({ connectionLimit: 1 });
  for (;;) {
    const [rows] = await pool.query<RowDataPacket[]>(
      "SELECT trx_mysql_thread_id AS thread FROM information_schema.innodb_trx JOIN information_schema.processlist AS p ON p.id = trx_mysql_thread_id WHERE trx_state = 'LOCK WAIT' AND p.db = ?",
      [database],
    );
    if (rows[0]) return rows[0].thread as number;
    await wait(transactionsAreKeptMs);
  }
}

interface Proxy {
  readonly port: number;
  /** True: the next COMMIT reaches the server, but its answer is lost. */
  lose: boolean;
  /** The number of answers that were lost so far. */
  lost: number;
  close(): void;
}

async function losingProxy({ hostname, port }: URL): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const proxy = { port: 0, lose: false, lost: 0, close: (): void => undefined };
  const listener = createServer((client) => {
    const upstream = connect(Number(port || 3306), hostname);
    let isLosing = false;
    client.on("data", (data) => {
      if (proxy.lose && data.includes("COMMIT")) {
        proxy.lose = false;
        isLosing = true;
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (isLosing) {
        proxy.lost++;
        client.destroy();
      } else client.write(data);
    });
    for (const [one, another] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => another.destroy());
      one.on("close", () => another.destroy());
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  proxy.port = (listener.address() as { port: number }).port;
  proxy.close = () => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  };
  return proxy;
}

/** Makes a write whose acknowledgement is lost, and makes it again. */
async function insist<T>(proxy: Proxy, write: () => Promise<T>): Promise<T> {
  const before = proxy.lost;
  proxy.lose = true;
  await expect(write()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(proxy.lost).toBe(before + 1);
  return write();
}
