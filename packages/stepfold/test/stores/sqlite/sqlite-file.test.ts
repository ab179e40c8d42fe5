import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import type { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { openSqlite } from "../../../src/stores/databases/sqlite/sqlite-client.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { openInside, planOf } from "./open-inside.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

function openingError(path: string): Pick<StepfoldError, "code" | "message" | "cause"> {
  try {
    sqliteStore(path, { busyTimeoutMs: 20 });
  } catch (error) {
    return error as StepfoldError;
  }
  return expect.fail("it was opened");
}

describe("opening an SQLite store", () => {
  it("says which file cannot be opened, and why", () => {
    for (const path of [join(folder, "no-such-folder", "x.db"), folder, "/dev/null/x.db"]) {
      const error = openingError(path);
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause: expect.any(Error) });
      expect(error.message).toContain(path);
    }
  });

  it("refuses what is no SQLite file, and leaves it alone", () => {
    const path = newPath();
    writeFileSync(path, "my diary\n".repeat(500));
    expect(openingError(path)).toMatchObject({ code: "STORE_REJECTED", retryable: false });
  });

  it("refuses a file that cannot be written", () => {
    const path = newPath();
    new DatabaseSync(path).exec("CREATE TABLE other (x)");
    expect(openingError(`file:${path}?mode=ro`)).toMatchObject({ code: "STORE_REJECTED" });
  });

  it("refuses a file whose tables another version made, and leaves it alone", () => {
    for (const layout of [2, 999]) {
      const path = newPath();
      new DatabaseSync(path).exec(`PRAGMA user_version = ${layout}`);
      expect(openingError(path)).toMatchObject({ code: "STORE_REJECTED" });
      expect(openingError(path).message).toContain(`it has layout ${layout}, and this version of Stepfold reads layout 3`);
      expect(new DatabaseSync(path).prepare("SELECT count(*) AS tables FROM sqlite_schema").get()).toEqual({ tables: 0 });
    }
  });

  it("refuses options that it does not know", () => {
    expect(() => sqliteStore(newPath(), { synchronous: "OFF" as "FULL" })).toThrow("synchronous");
    expect(() => sqliteStore(newPath(), { busyTimeoutMs: Number.NaN })).toThrow("busyTimeoutMs");
  });

  it("waits for the disk with every commit unless told otherwise", () => {
    for (const [synchronous, level] of [
      ["FULL", 2],
      ["NORMAL", 1],
    ] as const) {
      const db = openSqlite(newPath(), { synchronous, busyTimeoutMs: 20 });
      expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: level });
      expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
      db.close();
    }
  });

  it("says what it is: a file is durable and shared, memory is neither", async () => {
    const file = sqliteStore(newPath());
    const memory = sqliteStore(":memory:");
    expect(file.features).toEqual({
      clock: "store",
      durable: true,
      multiProcess: true,
      permits: true,
      taskQueues: true,
      lists: true,
      definitions: true,
      keys: true,
    });
    expect(memory.features).toEqual({
      clock: "store",
      durable: false,
      multiProcess: false,
      permits: true,
      taskQueues: true,
      lists: true,
      definitions: true,
      keys: true,
    });
    await file.close();
    await memory.close();
  });
});

describe("an SQLite store in trouble", () => {
  it("gives up when another process does not let it write, and goes on afterwards", async () => {
    const path = newPath();
    const { store } = openInside(path);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const first = startCommit("a");
    await expect(store.create(first)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause: expect.any(Error) });
    await expect(store.claim({ owner: "worker", leaseMs: 10, limit: 1 })).resolves.toEqual([]);
    expect(await store.load("a")).toBeNull();
    other.exec("ROLLBACK");
    other.close();
    await store.create(first);
    expect((await store.load("a"))?.version).toBe(0);
    await store.close();
  });

  it("acknowledges nothing that a full disk did not take, and still takes what fits", async () => {
    const { store, db } = openInside(newPath());
    const firsts = ["a", "b", "c"].map((id) => startCommit(id));
    for (const first of firsts) await store.create(first);
    const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
    db.exec(`PRAGMA max_page_count = ${pages + 2}`);
    const settled = await Promise.allSettled([
      store.commit(stepCommit(firsts[0]!)),
      store.commit(stepCommit(firsts[1]!, { output: "x".repeat(100_000) })),
      store.commit(stepCommit(firsts[2]!)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { code: "STORE_UNAVAILABLE", cause: expect.any(Error) } });
    expect((await store.load("b"))?.version).toBe(0);
    db.exec("PRAGMA max_page_count = 100000");
    await store.commit(stepCommit(firsts[1]!, { output: "x".repeat(100_000) }));
    expect((await store.load("b"))?.version).toBe(1);
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    await store.close();
  });

  it("claims a damaged execution like any other, so that it does not stand in the way of others", async () => {
    const path = newPath();
    let now = 1_000_000;
    const store = sqliteStore(path, { now: () => now });
    for (const id of ["a", "b", "c", "d"]) await store.create(startCommit(id, { metadata: { team: "red" } }));
    const other = new DatabaseSync(path);
    other.exec(`UPDATE executions SET head = '{"half' WHERE id = 'a'; UPDATE executions SET metadata = 'x' WHERE id = 'c'`);
    other.exec("DELETE FROM events WHERE execution = (SELECT seq FROM executions WHERE id = 'b')");
    other.close();
    await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining('"a"') });
    await expect(store.load("b")).rejects.toMatchObject({ code: "STORE_REJECTED" });
    const ids = async () => (await store.claim({ owner: "worker", leaseMs: 100, limit: 1 })).map(({ workflowId }) => workflowId);
    expect([await ids(), await ids(), await ids(), await ids(), await ids()]).toEqual([["a"], ["b"], ["c"], ["d"], []]);
    for (const id of ["a", "b"]) await expect(store.load(id)).rejects.toMatchObject({ code: "STORE_REJECTED" });
    now += 101;
    expect(await ids()).toEqual(["a"]);
    expect((await store.list()).items.map(({ workflowId }) => workflowId)).toEqual(["d", "b"]);
    expect((await store.list({ metadata: { team: "red" } })).items.map(({ workflowId }) => workflowId)).toEqual(["d", "b"]);
    await store.close();
  });
});

describe("what an SQLite store costs", () => {
  it("finds due executions by index among 200,000 that wait", async () => {
    const { store, db, statements } = openInside(":memory:");
    db.exec(`
      INSERT INTO executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes, fence, crashes, created_at, updated_at, wake_at, due_at)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
      SELECT 'paused-' || n, 'i', 'd', '{}', '{}', '[]', 0, 'paused', '{}', 2, 0, 0, n, n, iif(n % 2, NULL, 9e14), iif(n % 2, NULL, 9e14) FROM numbers`);
    await store.create(startCommit("a"));
    expect((await store.claim({ owner: "worker", leaseMs: 10, limit: 10 })).map(({ workflowId }) => workflowId)).toEqual(["a"]);
    const due = statements.filter(({ text }) => text.includes("permit_key IS NULL")).map((statement) => planOf(db, statement));
    expect(due.join().match(/SEARCH executions USING INDEX executions_due \(due_at[<>]\?/g)).toHaveLength(2);
    expect(due.join()).not.toMatch(/SCAN executions|TEMP B-TREE/);
    await store.prune({ before: 1, definitionId: "d" });
    const ended = planOf(db, statements.find(({ text }) => text.includes("executions_ended"))!);
    expect(ended).toContain("executions_ended (ended_at<?)");
    expect(ended).not.toContain("TEMP B-TREE");
    await store.close();
  });

  it("writes no index when the holder of a claim commits a step", async () => {
    const { store, db, statements } = openInside(":memory:");
    const first = startCommit("a");
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    statements.length = 0;
    await store.commit(stepCommit(first, { fence: claim!.fence }));
    expect(statements.map(({ text }) => text.trim().split(" ")[0])).toEqual(["BEGIN", "UPDATE", "INSERT", "COMMIT"]);
    const codes = db
      .prepare(`EXPLAIN ${statements[1]!.text}`)
      .all()
      .map(({ opcode }) => opcode);
    expect(codes).toContain("Insert");
    expect(codes.filter((code) => code === "IdxInsert" || code === "IdxDelete")).toEqual([]);
    await store.close();
  });

  it("hands SQLite at most 1,000 bytes for a step of a long loop with an output of 100 bytes", async () => {
    const { store, statements } = openInside(":memory:");
    const size = (value: unknown): number => (typeof value === "string" ? Buffer.byteLength(value) : 8);
    const bytesBound = (): number => statements.flatMap(({ values }) => values.map(size)).reduce((sum, bytes) => sum + bytes, 0);
    const uuid = "00000000-0000-4000-8000-000000000000";
    const start = startCommit(uuid, { incarnation: uuid });
    const definition = { id: "loop", hash: "a".repeat(64) };
    const claim = await store.create({ ...start, head: { ...start.head, definition } }, { claim: { owner: "worker", leaseMs: 60_000 } });
    let last = start;
    let atTen = 0;
    for (let version = 1; version <= 300; version++) {
      const path = {
        id: "0",
        nodeId: "step",
        status: "ready",
        turn: 4700 + version,
        visit: 4700 + version,
        attempts: 0,
        since: 4700 + version,
      } as const;
      const next = stepCommit(last, { commitId: uuid.slice(0, -3) + (100 + version), output: "x".repeat(98), fence: claim!.fence });
      const activePaths = [{ ...path, stepPath: Array(32).fill("step"), via: "again" }];
      last = {
        ...next,
        head: { ...next.head, definition, activePaths, lastStartedAt: 1763720177000, totalExecutionTime: 5000, sizeBytes: 1_050_000 },
      };
      await store.commit(last);
      if (version === 10) atTen = bytesBound();
    }
    const each = (bytesBound() - atTen) / 290;
    expect(each).toBeGreaterThan(500);
    expect(each).toBeLessThanOrEqual(1000);
    await store.close();
  });

  it("writes what is issued together in one transaction, each with its own verdict", async () => {
    const { store, statements } = openInside(":memory:");
    const transactions = (): number => statements.filter(({ text }) => text.startsWith("BEGIN")).length;
    const firsts = Array.from({ length: 50 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(firsts.map((first) => store.create(first)));
    expect(transactions()).toBe(1);
    const settled = await Promise.allSettled(
      firsts.map((first, index) => store.commit(index % 5 ? stepCommit(first) : stepCommit(startCommit(first.workflowId)))),
    );
    expect(transactions()).toBe(2);
    expect(settled.map(({ status }) => status === "fulfilled")).toEqual(firsts.map((_, index) => index % 5 !== 0));
    const seen = store.load("id-0");
    const late = store.commit(stepCommit(firsts[0]!));
    expect((await seen)?.version).toBe(0);
    await store.close();
    await late;
  });
});

describe("a commit from an untyped program", () => {
  it("never makes its status a part of a statement", async () => {
    const { store, statements } = openInside(":memory:");
    const [first, second] = [startCommit("a"), startCommit("b")];
    const held = { claim: { owner: "worker", leaseMs: 60_000 } };
    for (const commit of [first, second]) await store.create(commit, held);
    const status = "active' OR '1' = '1" as never;
    await store.commit(stepCommit(first, { fence: 1, status })).catch(() => undefined);
    expect(statements.some(({ text }) => text.includes("'1' = '1"))).toBe(false);
    // the text of a usual commit is another one, whose status is what the statement expects
    await store.commit(stepCommit(second, { fence: 1, status: "active" }));
    expect(await store.load("b")).toMatchObject({ version: 1, status: "active" });
    await store.close();
  });
});
