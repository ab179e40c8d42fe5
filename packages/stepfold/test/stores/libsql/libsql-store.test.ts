import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { afterAll, describe, expect, it } from "vitest";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { type LibsqlStatement, libsqlMigrations, libsqlStore, migrateLibsql } from "../../../src/stores/databases/libsql/index.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { engineCommits } from "../engine-commits.fixture.ts";
import { permitted } from "../sqlite/permits.fixture.ts";
import { viewOf } from "../view-cases.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-libsql-"));
const clients: Client[] = [];
afterAll(() => {
  for (const client of clients) client.close();
  rmSync(folder, { recursive: true, force: true });
});
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

function clientOf(url: string, options: Partial<Parameters<typeof createClient>[0]> = {}): Client {
  const client = createClient({ url, ...options });
  clients.push(client);
  return client;
}

/** The client, which gives the statements of every write batch to `seeWrites`. */
function observed(client: Client, seeWrites: (statements: readonly LibsqlStatement[]) => void) {
  return {
    protocol: client.protocol,
    execute: (statement: LibsqlStatement) => client.execute(statement),
    batch: (statements: LibsqlStatement[], mode: "read" | "write") => {
      if (mode === "write") seeWrites(statements);
      return client.batch(statements, mode);
    },
  };
}

async function writeAll(store: SnapshotStore, commits: readonly Commit[]): Promise<void> {
  for (const commit of commits) await (commit.expectedVersion < 0 ? store.create(commit) : store.commit(commit));
}

describe("a libSQL store and the tables", () => {
  it("makes those of a file and of memory, and asks for those of a server", async () => {
    const file = clientOf(`file:${newPath()}`);
    expect(await libsqlStore(file).load("a")).toBeNull();
    expect(await libsqlStore(clientOf(":memory:")).load("a")).toBeNull();
    const server = { ...observed(clientOf(":memory:"), () => {}), protocol: "http" };
    const store = libsqlStore(server);
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringContaining("migrateLibsql(client)"),
    });
    await migrateLibsql(server);
    await store.create(startCommit("a"));
    expect((await store.load("a"))?.version).toBe(0);
  });

  it("can be made by other means", async () => {
    const client = clientOf(":memory:");
    for (const sql of libsqlMigrations()) await client.execute(sql);
    await libsqlStore(client, { migrate: false }).create(startCommit("a"));
    expect(libsqlMigrations().join()).toContain("CREATE VIEW workflow_executions");
  });

  it("are made once, however many do it at the same time", async () => {
    const path = newPath();
    await Promise.all(Array.from({ length: 8 }, () => migrateLibsql(clientOf(`file:${path}`, { timeout: 5000 }))));
    await migrateLibsql(clientOf(`file:${path}`));
    expect(await libsqlStore(clientOf(`file:${path}`)).list()).toEqual({ items: [], nextCursor: null });
  });

  it("are left alone if another version made them", async () => {
    const client = clientOf(`file:${newPath()}`);
    await client.execute("PRAGMA user_version = 999");
    await expect(libsqlStore(client).load("a")).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringContaining("it has layout 999, and this version of Stepfold reads layout 3"),
    });
    await expect(libsqlStore(client, { migrate: false }).load("a")).rejects.toMatchObject({ code: "STORE_REJECTED" });
  });

  it("are those of the SQLite store: each goes on with what the other wrote", async () => {
    // the stores work one after the other, because within one process the two libraries do not see each other's locks
    const path = newPath();
    const commits = Array.from({ length: 10 }, (_, seed) => engineCommits(`id-${seed}`, seed));
    const seen: unknown[] = [];
    for (const part of [0, 1, 2, 3]) {
      const client = createClient({ url: `file:${path}` });
      const store = part % 2 ? libsqlStore(client) : sqliteStore(path);
      for (const [seed, all] of commits.entries()) {
        expect(await store.load(`id-${seed}`)).toEqual(seen[seed] ?? null);
        const size = Math.ceil(all.length / 4);
        await writeAll(store, all.slice(part * size, (part + 1) * size));
        seen[seed] = await store.load(`id-${seed}`);
      }
      await store.close();
      client.close();
    }
    expect(seen.map((snapshot) => (snapshot as { version: number }).version)).toEqual(commits.map((all) => all.at(-1)!.head.version));
  });
});

describe("taking turns in one file by both stores", () => {
  it("is one line: each counts what the other claimed", async () => {
    const path = newPath();
    const lease = { owner: "worker", leaseMs: 600_000, limit: 10 };
    const sqlite = sqliteStore(path);
    for (const id of ["a", "b", "c"]) await sqlite.create(permitted(id, "x", 2));
    expect((await sqlite.claim({ ...lease, limit: 1 })).map(({ workflowId }) => workflowId)).toEqual(["a"]);
    await sqlite.close();
    const client = createClient({ url: `file:${path}` });
    const libsql = libsqlStore(client);
    expect((await libsql.claim(lease)).map(({ workflowId }) => workflowId)).toEqual(["b"]);
    await libsql.create(permitted("d\u0000", "x\u0000y"));
    await libsql.create(permitted("e\u0000", "x\u0000z"));
    expect((await libsql.claim(lease)).map(({ workflowId }) => workflowId)).toEqual(["d\u0000", "e\u0000"]);
    client.close();
    const again = sqliteStore(path);
    await again.create(permitted("f", "x\u0000z"));
    expect(await again.claim(lease)).toEqual([]);
    expect(await again.claim({ ...lease, permit: "x\u0000y" })).toEqual([]);
    await again.close();
  });
});

describe("the view of a libSQL database", () => {
  it("shows what load gives at every version, and can be asked about status, metadata and context", async () => {
    const client = clientOf(`file:${newPath()}`);
    const store = libsqlStore(client);
    for (let seed = 0; seed < 25; seed++) {
      for (const commit of engineCommits(`id-${seed}`, seed)) {
        await writeAll(store, [commit]);
        const { rows } = await client.execute("SELECT snapshot, status, version FROM workflow_executions WHERE id = ?", [`id-${seed}`]);
        const loaded = viewOf((await store.load(`id-${seed}`))!);
        expect(JSON.parse(rows[0]?.snapshot as string)).toEqual(loaded);
        expect([rows[0]?.status, rows[0]?.version]).toEqual([loaded.status, loaded.version]);
      }
    }
    const first = startCommit("asked", { metadata: { team: "red" } });
    await writeAll(store, [first, stepCommit(first, { output: { deep: [0.5] } })]);
    const { rows } = await client.execute(`
      SELECT id, created_at, updated_at FROM workflow_executions
      WHERE status = 'active' AND snapshot ->> '$.metadata.team' = 'red' AND snapshot ->> '$.context.step[0].output.deep[0]' = 0.5`);
    const { items } = await store.list({ metadata: { team: "red" } });
    expect(rows.map((row) => [row.id, row.created_at, row.updated_at])).toEqual([["asked", items[0]?.createdAt, items[0]?.updatedAt]]);
  });
});

describe("what a libSQL store costs", () => {
  it("commits in one batch, the same for the 2,000th event as for the 2nd", async () => {
    const batches: (readonly LibsqlStatement[])[] = [];
    const store = libsqlStore(observed(clientOf(":memory:"), (statements) => batches.push(statements)));
    const first = startCommit("a");
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    let last: Commit = first;
    const step = async (): Promise<number> => {
      const before = batches.length;
      last = stepCommit(last, { fence: claim!.fence });
      await store.commit(last);
      expect(batches.length).toBe(before + 1);
      return batches.at(-1)!.length;
    };
    const early = await step();
    last = stepCommit(last, { fence: claim!.fence, outputs: Array.from({ length: 2000 }, (_, index) => index) });
    await store.commit(last);
    expect(await step()).toBe(early);
    // the two statements write the head and the event
    expect(early).toBe(2);
    expect((await store.load("a"))?.version).toBe(2002);
  });

  it("sends what is issued together in one batch, each with its own verdict", async () => {
    let batches = 0;
    const store = libsqlStore(observed(clientOf(":memory:"), () => batches++));
    await store.load("a");
    const firsts = Array.from({ length: 50 }, (_, index) => startCommit(`id-${index}`));
    batches = 0;
    await Promise.all(firsts.map((first) => store.create(first)));
    expect(batches).toBe(1);
    const settled = await Promise.allSettled(
      firsts.map((first, index) => store.commit(index % 5 ? stepCommit(first) : stepCommit(startCommit(first.workflowId)))),
    );
    expect(batches).toBe(2);
    expect(settled.map(({ status }) => status === "fulfilled")).toEqual(firsts.map((_, index) => index % 5 !== 0));
    const late = store.commit(stepCommit(firsts[0]!));
    await store.close();
    await late;
  });

  it("only reads when nothing is due", async () => {
    let writes = 0;
    const client = clientOf(":memory:");
    const counted = observed(client, () => writes++);
    await migrateLibsql(client);
    const store = libsqlStore(counted, { migrate: false });
    expect(await store.claim({ owner: "worker", leaseMs: 10, limit: 100 })).toEqual([]);
    expect(writes).toBe(0);
  });

  it("finds due executions by index", async () => {
    const client = clientOf(":memory:");
    const due: LibsqlStatement[] = [];
    const store = libsqlStore({
      ...observed(client, () => {}),
      execute: (statement) => {
        if (statement.sql.includes("due_at")) due.push(statement);
        return client.execute(statement);
      },
    });
    await store.claim({ owner: "worker", leaseMs: 10, limit: 1 });
    expect(due).toHaveLength(1);
    const plans = await Promise.all(
      due.map(async ({ sql, args }) => {
        const { rows } = await client.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args });
        return rows.map(({ detail }) => detail).join();
      }),
    );
    expect(plans.join().match(/SEARCH executions USING INDEX executions_due \(due_at/g)).toHaveLength(2);
    expect(plans.join()).not.toMatch(/SCAN executions|TEMP B-TREE/);
  });
});

describe("a libSQL store in trouble", () => {
  it("gives up when another connection does not let it write, and goes on afterwards", async () => {
    const path = newPath();
    const store = libsqlStore(clientOf(`file:${path}`));
    expect(await store.load("a")).toBeNull();
    const other = await clientOf(`file:${path}`).transaction("write");
    const first = startCommit("a");
    await expect(store.create(first)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause: expect.any(Error) });
    expect(await store.load("a")).toBeNull();
    await other.rollback();
    await store.create(first);
    expect((await store.load("a"))?.version).toBe(0);
  });

  it("takes what fits on a full disk, and acknowledges nothing else", async () => {
    const client = clientOf(":memory:");
    const store = libsqlStore(client);
    const firsts = ["a", "b", "c"].map((id) => startCommit(id));
    for (const first of firsts) await store.create(first);
    const { rows } = await client.execute("PRAGMA page_count");
    await client.execute(`PRAGMA max_page_count = ${Number(rows[0]?.page_count) + 2}`);
    const settled = await Promise.allSettled([
      store.commit(stepCommit(firsts[0]!)),
      store.commit(stepCommit(firsts[1]!, { output: "x".repeat(100_000) })),
      store.commit(stepCommit(firsts[2]!)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { code: "STORE_UNAVAILABLE" } });
    expect((await store.load("b"))?.version).toBe(0);
  });

  it("says so when its client was closed", async () => {
    const client = clientOf(":memory:");
    const store = libsqlStore(client);
    await store.load("a");
    client.close();
    await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("closed") });
  });

  it("names what to do when the tables went away", async () => {
    const client = clientOf(":memory:");
    const store = libsqlStore(client);
    await store.create(startCommit("a"));
    await client.execute("DROP TABLE executions");
    await expect(store.create(startCommit("b"))).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringContaining("migrateLibsql(client)"),
    });
  });
});

describe("a libSQL store over clients of all kinds", () => {
  it.each(["number", "bigint", "string"] as const)("gives numbers where the client gives %s", async (intMode) => {
    const store = libsqlStore(clientOf(":memory:", { intMode }));
    const first = startCommit("a", { wakeAt: 5 });
    await store.create(first);
    const { items } = await store.list();
    const numbers = [items[0]?.version, items[0]?.createdAt, items[0]?.updatedAt, items[0]?.wakeAt];
    const [claim = expect.fail("nothing was claimed")] = await store.claim({ owner: "worker", leaseMs: 1000, limit: 1 });
    const renewed = await store.renew(claim);
    const rows = await store.events("a", -1, 1);
    const all = [...numbers, claim.fence, claim.claimedAt, claim.sizeBytes, renewed.version, renewed.storeNow, rows[0]?.version];
    expect(all.map((value) => typeof value)).toEqual(all.map(() => "number"));
    await store.commit(stepCommit(first, { status: "completed", fence: claim.fence }));
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER })).toMatchObject({ executions: 1, events: 2 });
  });

  it("goes by the clock of the database unless another one is given", async () => {
    const client = clientOf(":memory:");
    const own = await libsqlStore(client).create(startCommit("a"), { claim: { owner: "worker", leaseMs: 1000 } });
    expect(Math.abs(own!.claimedAt - Date.now())).toBeLessThan(60_000);
    const given = await libsqlStore(client, { now: () => 77 }).create(startCommit("b"), { claim: { owner: "worker", leaseMs: 1000 } });
    expect(given?.claimedAt).toBe(77);
  });
});
