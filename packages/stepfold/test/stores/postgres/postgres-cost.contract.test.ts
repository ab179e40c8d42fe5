import type { PoolClient } from "pg";
import { afterAll, describe, expect, it } from "vitest";
import type { ClaimOptions, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { writtenRuns } from "../../../src/testing/contract/records/runs.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(4);
const schemas: string[] = [];
const freshSchema = (): string => {
  schemas.push(newSchema());
  return schemas.at(-1)!;
};
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

type Sent = readonly [text: string, values: readonly unknown[]];

/** A handle on a schema, with a list of the statements that it sends. */
function observed(schema: string): { inside: SnapshotStore; sent: Sent[] } {
  const sent: Sent[] = [];
  const query = (text: string, values: unknown[] = []) => {
    sent.push([text, values]);
    return pool.query(text, values);
  };
  return { inside: postgresStore({ query }, { schema }), sent };
}

async function planOf([text, values]: Sent, options = ""): Promise<string> {
  const { rows } = await pool.query(`EXPLAIN ${options} ${text}`, [...values]);
  return rows.map((row) => row["QUERY PLAN"] as string).join("\n");
}

/** Counts the written rows of children, events and executions, and the updates of executions that changed no index (HOT). */
async function writtenBy(client: PoolClient, schema: string): Promise<number[]> {
  const count = (column: string, table: string): string => `coalesce(max(${column}) FILTER (WHERE relname = '${table}'), 0)::int`;
  const touched = "n_tup_ins + n_tup_upd + n_tup_del";
  const { rows } = await client.query(
    `SELECT ARRAY[${count(touched, "children")}, ${count(touched, "events")}, ${count(touched, "executions")}, ${count("n_tup_hot_upd", "executions")}] AS counts
    FROM pg_stat_xact_user_tables WHERE schemaname = $1`,
    [schema],
  );
  return rows[0].counts;
}

describe.skipIf(url === null)("PostgreSQL: what things cost", () => {
  it("writes one head and one row for a commit, also after 2,000 events", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const first = startCommit("a");
    const claim = (await store.create(first, { claim: { owner: "worker", leaseMs: 600_000 } }))!;
    const last = stepCommit(first, { outputs: Array.from({ length: 2000 }, (_, index) => index), fence: claim.fence });
    await store.commit(last);
    const client = await pool.connect();
    const inside = postgresStore({ query: (text, values) => client.query(text, values) }, { schema });
    await inside.load("a");
    try {
      await client.query("BEGIN");
      const before = await writtenBy(client, schema);
      await inside.commit(stepCommit(last, { fence: claim.fence }));
      const after = await writtenBy(client, schema);
      expect(after.map((count, index) => count - before[index]!)).toEqual([0, 1, 1, 1]);
    } finally {
      await client.query("COMMIT");
      client.release();
    }
  });

  it("reads of an execution with 400 runs only what follows the checkpoint of the present one, and trims without a scan", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const runs = Array.from({ length: 399 }, (_, index) => index);
    await writtenRuns(store, "a", runs);
    await Promise.all(Array.from({ length: 200 }, (_, index) => store.create(startCommit(`id-${index}`))));
    await pool.query(`ANALYZE "${schema}".executions`);
    await pool.query(`ANALYZE "${schema}".events`);
    const { inside, sent } = observed(schema);
    const rowsOf = async (): Promise<number> => {
      sent.length = 0;
      await inside.load("a");
      const plan = await planOf(sent.at(-1)!, "ANALYZE");
      return Number(/Scan .*on events .*actual time=\S+ rows=(\d+)/.exec(plan)![1]);
    };
    expect(await rowsOf()).toBe(2);
    expect(await inside.trim({ before: 1e6, dryRun: true })).toMatchObject({ executions: 1, events: 399 * 3 - 1 });
    expect(await planOf(sent.at(-1)!)).toContain("executions_run");
    await inside.trim({ before: 1e6 });
    expect(await rowsOf()).toBe(2);
    expect((await inside.events("a", -1, 10)).map(({ version }) => version)).toEqual([0, 1197, 1198, 1199]);
  });

  it("finds what is due by its index among parked and ended executions, and locks nothing if nothing is due", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await store.create(startCommit("model", { status: "paused" }));
    // a third of the copies has no due time, a third is due later, and a third has ended
    await pool.query(`
      INSERT INTO "${schema}".executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes,
        wake_at, due_at, fence, created_at, updated_at, ended_at)
      SELECT id || number, incarnation, definition_id, definition, metadata, labels, version,
        CASE number % 3 WHEN 2 THEN 'completed' ELSE status END, head, size_bytes,
        later, later, fence, created_at, updated_at, CASE number % 3 WHEN 2 THEN updated_at END
      FROM "${schema}".executions, generate_series(1, 20000) AS number,
        LATERAL (SELECT CASE number % 3 WHEN 1 THEN 4000000000000 + number END AS later) AS time`);
    await pool.query(`ANALYZE "${schema}".executions`);
    const { inside: reader, sent } = observed(schema);
    await reader.load("model");
    sent.length = 0;
    await reader.load("model");
    await reader.claim({ owner: "worker", leaseMs: 1000, limit: 10 });
    await reader.claim({ owner: "worker", leaseMs: 1000, limit: 10, overdueMs: 30_000 });
    await reader.claim({ owner: "worker", leaseMs: 1000, limit: 10, workflowId: "model5" });
    await reader.prune({ before: 1000 });
    expect(sent.length).toBeGreaterThanOrEqual(6);
    for (const statement of sent) expect(await planOf(statement)).not.toContain("Seq Scan on executions");
    for (const statement of sent.filter(([text]) => text.includes("SKIP LOCKED"))) {
      expect(await planOf(statement)).toMatch(/executions_due [\s\S]*Index Cond: \(due_at <= /);
    }

    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const inside = postgresStore({ query: (text, values) => client.query(text, values) }, { schema });
      expect(await inside.claim({ owner: "worker", leaseMs: 1000, limit: 10 })).toEqual([]);
      const { rows } = await client.query("SELECT pg_current_xact_id_if_assigned() AS written");
      expect(rows).toEqual([{ written: null }]);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  });

  it("sends no more statements where nobody has a permit, and writes nothing where all have to wait for their turn", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const client = await pool.connect();
    let sent: string[] = [];
    const query = (text: string, values: unknown[]) => {
      sent.push(text);
      return client.query(text, values);
    };
    await store.list();
    const inside = postgresStore({ query }, { schema });
    await inside.list();
    const sentFor = async (options: Partial<ClaimOptions>): Promise<[number, number]> => {
      sent = [];
      const claimed = await inside.claim({ owner: "worker", leaseMs: 600_000, limit: 2, ...options });
      return [sent.length, claimed.length];
    };
    expect(await sentFor({})).toEqual([1, 0]);
    expect(await sentFor({ workflowId: "a" })).toEqual([1, 0]);
    for (const id of ["a", "b", "c", "d"]) await store.create(startCommit(id));
    expect(await sentFor({ limit: 3 })).toEqual([1, 3]);
    expect(await sentFor({})).toEqual([1, 1]);
    expect(await sentFor({ workflowId: "a" })).toEqual([1, 0]);
    for (const id of ["k1", "k2", "k3"]) await store.create(startCommit(id, { head: { permit: { key: "k", limit: 1 } } }));
    const [byId, claimed] = await sentFor({ workflowId: "k1" });
    expect(claimed).toBe(1);
    // the statements read the execution, the holders of the permit, their leases and the due time, and write the new holder and the claim
    expect(byId).toBeLessThanOrEqual(6);
    await client.query("BEGIN");
    // the statements read the due executions, the keys, their records and the holders; none of them writes
    expect(await sentFor({})).toEqual([5, 0]);
    expect((await sentFor({ permit: "k" }))[1]).toBe(0);
    expect((await sentFor({ workflowId: "k2" }))[1]).toBe(0);
    const { rows } = await client.query("SELECT pg_current_xact_id_if_assigned() AS written");
    expect(rows).toEqual([{ written: null }]);
    await client.query("ROLLBACK");
    client.release();
  });

  it("changes no index with a commit of one with a permit, and nothing else", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await store.create(startCommit("a", { head: { permit: { key: "k", limit: 1 }, deadlineAt: 4_000_000_000_000 } }));
    const [held] = await claimAndLoad(store, { owner: "worker", leaseMs: 600_000, limit: 1 });
    const client = await pool.connect();
    const inside = postgresStore({ query: (text, values) => client.query(text, values) }, { schema });
    await inside.load("a");
    await client.query("BEGIN");
    const before = await writtenBy(client, schema);
    await inside.commit(stepCommit(held!.snapshot, { fence: held!.claim.fence }));
    const after = await writtenBy(client, schema);
    expect(after.map((count, index) => count - before[index]!)).toEqual([0, 1, 1, 1]);
    await client.query("COMMIT");
    client.release();
  });

  it("never reads those who wait for their turn one by one, even if the server does not know yet how many they are", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await store.create(startCommit("plain", { status: "paused" }));
    await pool.query(`ALTER TABLE "${schema}".executions SET (autovacuum_enabled = false)`);
    await pool.query(`ANALYZE "${schema}".executions`);
    for (const id of ["model", "next"]) await store.create(startCommit(id, { head: { permit: { key: "k", limit: 1 } } }));
    await store.claim({ owner: "worker", leaseMs: 600_000, limit: 1 });
    await pool.query(`
      INSERT INTO "${schema}".executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes,
        wake_at, due_at, fence, created_at, updated_at, permit_key, permit_limit, exempt_at)
      SELECT id || number, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes,
        wake_at, due_at + number, fence, created_at, updated_at, permit_key, permit_limit,
        CASE number % 2 WHEN 1 THEN 4000000000000 + number END
      FROM "${schema}".executions, generate_series(1, 20000) AS number WHERE id = 'next'`);
    const { inside, sent } = observed(schema);
    await inside.load("plain");
    for (const isKnown of [false, true]) {
      if (isKnown) await pool.query(`ANALYZE "${schema}".executions`);
      sent.length = 0;
      for (const which of [{}, { permit: "k" }, { workflowId: "next7" }]) {
        expect(await inside.claim({ owner: "worker", leaseMs: 1000, limit: 10, ...which })).toEqual([]);
      }
      expect(sent.length).toBeGreaterThan(6);
      for (const statement of sent) {
        const plan = await planOf(statement, "(ANALYZE, COSTS OFF, TIMING OFF)");
        expect(plan).not.toContain("Seq Scan on executions");
        const read = [...plan.matchAll(/actual rows=(\d+) loops=(\d+)/g)].map(([, each, loops]) => Number(each) * Number(loops));
        expect(Math.max(...read)).toBeLessThanOrEqual(500);
        expect(plan).not.toMatch(/Rows Removed by Filter: \d{2,}/);
      }
    }
  });

  it("holds ids, keys and metadata that no other store would mistake", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const ids = [
      "\\",
      "\\\\",
      "\\u0000",
      "\u0000",
      "\ud800",
      "\udc00\ud800",
      "😀".repeat(127),
      "\u001e",
      "x".repeat(255),
      "x'; DROP SCHEMA stepfold; --",
      "a ",
      "a",
    ];
    for (const id of ids) await store.create(startCommit(id, { input: id, definitionId: id, metadata: { [id]: id } }));
    for (const id of ids) {
      expect((await store.load(id))?.workflowId).toBe(id);
      expect((await store.list({ metadata: { [id]: id } })).items.map(({ workflowId }) => workflowId)).toEqual([id]);
      expect((await store.list({ definitionId: id })).items.map(({ workflowId }) => workflowId)).toEqual([id]);
    }
    const claimed = await claimAndLoad(store, { owner: "\\\u0000", leaseMs: 60_000, limit: 100 });
    expect(claimed.map(({ claim }) => claim.workflowId)).toEqual(ids);
    await Promise.all(
      claimed.map(({ claim, snapshot }) => store.commit(stepCommit(snapshot, { fence: claim.fence, output: claim.workflowId }))),
    );
    for (const id of ids) expect((await store.load(id))?.context.step?.[0]?.output).toBe(id);
  });
});
