import type { RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { dueStatement, listsOf } from "../../../src/stores/databases/mysql/mysql-rows.ts";
import { tablesOf } from "../../../src/stores/databases/mysql/mysql-statement.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { put } from "../../../src/testing/contract/children/children.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { mysqlServer } from "./mysql-bench.fixture.ts";
import { watched } from "./watched-pool.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

describe.skipIf(!server)("what a MySQL store costs", () => {
  it("makes fifty commits in the round trips of one, each with its own verdict", async () => {
    const seen = watched(server!.pool());
    const store = mysqlStore(seen.pool, { prefix: "trips_", migrate: true });
    await store.create(startCommit("first"));
    const firsts = Array.from({ length: 50 }, (_, index) =>
      startCommit(`id-${index}`, { children: [put("x", { input: 1 }), put("z", { input: 1 })] }),
    );
    const tripsOf = async (work: () => Promise<unknown>): Promise<number> => {
      seen.texts.length = 0;
      await work();
      return seen.texts.length;
    };
    expect(await tripsOf(() => Promise.all(firsts.map((first) => store.create(first))))).toBe(7);
    const next = (first: Commit): Commit =>
      stepCommit(first, { outputs: [1, 2], children: [put("x", { input: 2 }), { key: "z", head: null }, put("y", { input: 2 })] });
    const alone = await tripsOf(() => store.commit(next(firsts[0]!)));
    const together = await tripsOf(async () => {
      const commits = firsts.slice(1).map((first, index) => (index % 7 ? next(first) : next(startCommit(first.workflowId))));
      const settled = await Promise.allSettled(commits.map((commit) => store.commit(commit)));
      expect(settled.map(({ status }) => status === "fulfilled")).toEqual(commits.map((_, index) => index % 7 !== 0));
    });
    expect(alone).toBe(7);
    // each of the seven refused commits reads the execution in three round trips, and the writer of its version in three more
    expect(together).toBe(alone + 7 * 6);
    await store.close();
  });

  it("keeps few texts of statements, however many commits go together", async () => {
    const seen = watched(server!.pool());
    const store = mysqlStore(seen.pool, { prefix: "texts_", migrate: true });
    let last = Array.from({ length: 100 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(last.map((first) => store.create(first)));
    seen.texts.length = 0;
    for (let count = 1; count <= 100; count += 3) {
      const next = last.map((before, index) =>
        index < count ? stepCommit(before, { children: [put(`x${count}`, { input: 1 })] }) : before,
      );
      await Promise.all(next.filter((commit, index) => commit !== last[index]).map((commit) => store.commit(commit)));
      last = next;
    }
    expect(new Set(seen.texts).size).toBeLessThanOrEqual(2 + 4 * 8);
    await store.close();
  });

  it("writes one head and one event for a step of an execution with 2,000 events", async () => {
    const pool = server!.pool();
    const seen = watched(pool);
    const store = mysqlStore(seen.pool, { prefix: "long_", migrate: true });
    let last = startCommit("a", { input: "x".repeat(100_000), metadata: { text: "y".repeat(100_000) } });
    const claim = await store.create(last, { claim: { owner: "worker", leaseMs: 600_000 } });
    const step = async (count: number): Promise<number> => {
      last = stepCommit(last, { outputs: Array(count).fill("x".repeat(100)), fence: claim!.fence });
      seen.bytes = 0;
      seen.texts.length = 0;
      await store.commit(last);
      return seen.bytes;
    };
    const early = await step(1);
    await step(2000);
    const before = await countersOf(pool);
    const late = await step(1);
    const after = await countersOf(pool);
    expect(late).toBeLessThan(early + 100);
    expect(late).toBeLessThan(2000);
    expect(seen.texts.length).toBe(5);
    expect(after.events - before.events).toBe(1);
    expect(after.executions - before.executions).toBe(0);
    expect((await store.load("a"))?.version).toBe(2002);
    await store.close();
  });

  it("finds what is due, and what ended, by index among 20,000 that wait or have ended", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "many_", migrate: true });
    await store.create(startCommit("a"));
    await pool.query(`
      INSERT INTO many_executions (id, incarnation, definition_id, definition, metadata, labels, creator, version, status, head, size_bytes,
        fence, created_at, updated_at, wake_at, due_at, ended_at)
      SELECT CONCAT('id-', n.seq), 'i', 'd', '{}', '{}', '', '', 0, IF(n.seq % 2, 'paused', 'completed'), '{"activePaths":[]}', 2, 0, n.seq, n.seq,
        IF(n.seq % 4 = 1, 9e14, NULL), IF(n.seq % 4 = 1, 9e14, NULL), IF(n.seq % 2, NULL, n.seq)
      FROM seq_1_to_20000 AS n`);
    await pool.query("ANALYZE TABLE many_executions");
    const tables = tablesOf("many_");
    const planOf = async (sql: string): Promise<{ key: string; rows: number; extra: string }> => {
      const [rows] = await pool.query<RowDataPacket[]>(`EXPLAIN ${sql}`);
      return { key: rows[0]!.key, rows: Number(rows[0]!.rows), extra: rows[0]!.Extra };
    };
    const bound = (sql: string, ...values: (number | string)[]): string =>
      values.reduce<string>((text, value) => text.replace("?", `${value}`), sql);
    for (const overdueMs of [0, 30_000]) {
      const due = `${bound(dueStatement(tables, null, "seq, head"), overdueMs, 10)} FOR UPDATE SKIP LOCKED`;
      expect(await planOf(due)).toMatchObject({ key: "due", extra: expect.not.stringContaining("filesort") });
      expect((await planOf(due)).rows).toBeLessThan(10);
    }
    const ended = { statuses: ["completed"], definitionId: null } as const;
    for (const [asked, key] of [
      [ended, "ended"],
      [null, "deleted"],
    ] as const) {
      let sent = "";
      const lists = listsOf(tables, async (text) => {
        sent = text;
        return [];
      });
      await lists.ended({ before: 100, limit: 10, ended: asked });
      const plan = await planOf(bound(sent, 100, ...(asked ? ["'completed'"] : []), 10));
      expect(plan).toMatchObject({ key, extra: expect.not.stringContaining("filesort") });
    }
    expect((await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 })).map(({ workflowId }) => workflowId)).toEqual(["a"]);
    expect((await store.list({ status: ["paused"], limit: 2 })).items.map(({ workflowId }) => workflowId)).toEqual([
      "id-19999",
      "id-19997",
    ]);
    expect(await store.prune({ before: 101, limit: 30, dryRun: true })).toMatchObject({ executions: 30, events: 30 });
    await store.close();
  });

  async function countersOf(pool: ReturnType<NonNullable<typeof server>["pool"]>): Promise<{ events: number; executions: number }> {
    const [rows] = await pool.query<RowDataPacket[]>(
      "SELECT (SELECT COUNT(*) FROM long_events) AS events, (SELECT COUNT(*) FROM long_executions) AS executions",
    );
    return rows[0] as { events: number; executions: number };
  }
});
