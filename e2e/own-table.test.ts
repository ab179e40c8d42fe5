import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import pg from "pg";
import { type Snapshot, WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { postgresStore } from "stepfold/stores/postgres";
import { redisStore } from "stepfold/stores/redis";
import { tieredStore } from "stepfold/stores/tiered";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../scripts/servers/service-url.ts";

// Tests the ways of using a database that the documents which Stepfold is based on describe.

const postgresUrl = await serviceUrlOrSkip("postgres");
const redisUrl = await serviceUrlOrSkip("redis");
const schema = `own_${randomUUID().replaceAll("-", "").slice(0, 12)}`;

const approval = {
  id: "approval",
  nodes: [
    { id: "ask", type: "approval", data: { message: "Publish {{ input.title }}?" } },
    { id: "publish", type: "set", data: { published: "{{ input.title }}" } },
  ],
  edges: [{ source: "ask", target: "publish", sourceHandle: "approved" }],
};

describe.skipIf(postgresUrl === null)("an application with a table of its own, and the engine alone", () => {
  const pool = new pg.Pool({ connectionString: postgresUrl ?? "", max: 4 });
  const table = `${schema}.workflow_executions`;
  const engine = new WorkflowEngine({ workflow: approval, nodeDefinitions: builtinNodes });

  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA ${schema}`);
    await pool.query(`CREATE TABLE ${table} (
      id VARCHAR(255) PRIMARY KEY, snapshot JSONB NOT NULL, status VARCHAR(50) NOT NULL, version BIGINT NOT NULL,
      created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW())`);
    await pool.query(`CREATE INDEX idx_active_workflows ON ${table} (status)`);
  });

  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  });

  const read = async (id: string): Promise<Snapshot> => {
    const { rows } = await pool.query<{ snapshot: Snapshot }>(`SELECT snapshot FROM ${table} WHERE id = $1`, [id]);
    return rows[0]!.snapshot;
  };
  const insert = async (snapshot: Snapshot): Promise<void> => {
    const values = [snapshot.workflowId, JSON.stringify(snapshot), snapshot.status, snapshot.version];
    await pool.query(`INSERT INTO ${table} (id, snapshot, status, version) VALUES ($1, $2, $3, $4)`, values);
  };
  /** Writes the snapshot if the stored version is still the one that was read. Returns false if another worker was first. */
  const save = async (after: Snapshot, readVersion: number): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `UPDATE ${table} SET snapshot = $1, status = $2, version = $3, updated_at = NOW() WHERE id = $4 AND version = $5`,
      [JSON.stringify(after), after.status, after.version, after.workflowId, readVersion],
    );
    return rowCount === 1;
  };

  it("goes on from what JSONB made of a snapshot", async () => {
    await insert(await engine.execute({ workflowId: "post-1", input: { title: "Hello" } }));
    const snapshot = await read("post-1");
    const done = await engine.execute({ snapshot, externalPayload: { approved: true } });
    expect(await save(done, snapshot.version)).toBe(true);
    expect(await read("post-1")).toMatchObject({ status: "completed", output: { published: "Hello" } });
  });

  it("keeps one of two workers' results; the other's update touches no row, and it discards what it has", async () => {
    for (let round = 0; round < 50; round++) {
      const id = `race-${round}`;
      await insert(await engine.execute({ workflowId: id, input: { title: id } }));
      // both workers read before either of them writes
      const seen = await Promise.all([read(id), read(id)]);
      const kept = await Promise.all(
        seen.map(async (snapshot, worker) => {
          const after = await engine.execute({ snapshot, externalPayload: { approved: worker === 0 } });
          return save(after, snapshot.version);
        }),
      );
      expect(kept.filter(Boolean)).toHaveLength(1);
      const stored = await read(id);
      expect(stored.context.ask).toHaveLength(1);
      expect(Object.hasOwn(stored.context, "publish")).toBe(kept[0]);
    }
  });

  it("raises the version with every transition, also with a pause and with a retry that is to come", async () => {
    const failing = {
      id: "failing",
      nodes: [
        { id: "try", type: "fail", data: { message: "not yet" }, retryPolicy: { maxAttempts: 3, interval: 60_000, backoff: "fixed" } },
      ],
      edges: [],
    };
    const retrying = new WorkflowEngine({ workflow: failing, nodeDefinitions: { ...builtinNodes, fail: { executor: refuse } } });
    const first = await retrying.execute({ workflowId: "failing-1" });
    const second = await retrying.execute({ snapshot: first });
    expect([first.status, second.status]).toEqual(["error", "error"]);
    expect(second.version).toBeGreaterThan(first.version);
    const paused = await engine.execute({ workflowId: "post-2", input: { title: "Hello" } });
    expect(paused.version).toBeGreaterThan(0);
  });

  it("finds its executions by status with the index, and by what is in the snapshot", async () => {
    await insert(await engine.execute({ workflowId: "post-3", input: { title: "Later" }, metadata: { customer: "ada" } }));
    const { rows } = await pool.query(`SELECT id FROM ${table} WHERE status = 'paused' AND snapshot -> 'metadata' ->> 'customer' = 'ada'`);
    expect(rows).toEqual([{ id: "post-3" }]);
  });
});

describe.skipIf(postgresUrl === null || redisUrl === null)("active executions in Redis, finished and waiting ones in PostgreSQL", () => {
  it("move when they have ended or wait, are found wherever they are, and go on there", async () => {
    const name = `${schema}_tiers`;
    const redis = new Redis(redisUrl!);
    const pool = new pg.Pool({ connectionString: postgresUrl!, max: 4 });
    const store = tieredStore({
      hot: redisStore(redis, { prefix: name }),
      cold: postgresStore(pool, { schema: name, migrate: true }),
      coldAfterMs: 0,
    });
    const runtime = createRuntime({ store, workflows: [approval], nodeDefinitions: builtinNodes });
    const done = await runtime.start("approval", { workflowId: "done", input: { title: "One" } });
    const waiting = await runtime.start("approval", { workflowId: "waiting", input: { title: "Two" } });
    await done.settled();
    await done.resume({ payload: { approved: true } });
    expect(await done.result()).toEqual({ published: "One" });
    await waiting.settled();
    // an execution that has just ended is moved only when it is older than the possible difference of the clocks
    let moved = 0;
    await expect.poll(async () => (moved += (await store.move()).moved)).toBe(2);

    const { rows } = await pool.query(`SELECT id, status FROM ${name}.workflow_executions ORDER BY id`);
    expect(rows).toEqual([
      { id: "done", status: "completed" },
      { id: "waiting", status: "paused" },
    ]);
    expect((await (await runtime.get("done")).snapshot()).output).toEqual({ published: "One" });
    expect((await store.list()).items.map(({ workflowId }) => workflowId).sort()).toEqual(["done", "waiting"]);
    await waiting.resume({ payload: { approved: true } });
    expect(await waiting.result()).toEqual({ published: "Two" });

    await runtime.close();
    await store.close();
    for (const url of [`${redisUrl}?prefix=${name}`, `${postgresUrl}?schema=${name}`]) {
      const site = await siteFromUrl(url);
      await site.drop(name);
      await site.close();
    }
    await redis.quit();
    await pool.end();
  });
});

async function refuse(): Promise<never> {
  throw new TypeError("not yet");
}
