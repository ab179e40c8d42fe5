import { connect as connectTo, createServer, type Socket } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import type { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { migratePostgres, type PostgresClient, postgresMigrations, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(8);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

function fresh(client: PostgresClient = pool): { schema: string; store: SnapshotStore } {
  const schema = newSchema();
  schemas.push(schema);
  return { schema, store: postgresStore(client, { schema, migrate: true }) };
}

const rejection = (work: Promise<unknown>): Promise<StepfoldError> =>
  work.then(
    () => expect.unreachable(),
    (error: StepfoldError) => error,
  );

describe.skipIf(url === null)("PostgreSQL: what goes wrong", () => {
  it("says that the tables are missing, and what to do", async () => {
    const schema = newSchema();
    schemas.push(schema);
    const store = postgresStore(pool, { schema });
    const error = await rejection(store.load("a"));
    expect([error.code, error.message]).toEqual(["STORE_REJECTED", expect.stringContaining("stepfold migrate")]);
    await migratePostgres(pool, { schema });
    expect(await store.load("a")).toBe(null);
  });

  it.each([2, 99])("refuses tables that another version made, with layout %i, and leaves them alone", async (layout) => {
    const { schema, store } = fresh();
    await store.create(startCommit("a"));
    await pool.query(`UPDATE "${schema}".layouts SET number = $1`, [layout]);
    for (const work of [() => migratePostgres(pool, { schema }), () => postgresStore(pool, { schema }).load("a")]) {
      const error = await rejection(work());
      const reason = `the tables have layout ${layout}, and this version of Stepfold reads layout 3`;
      expect([error.code, error.message]).toEqual(["STORE_REJECTED", expect.stringContaining(reason)]);
    }
    expect((await store.load("a"))?.version).toBe(0);
  });

  it("can be migrated with the SQL that is printed", async () => {
    const schema = newSchema();
    schemas.push(schema);
    for (const step of postgresMigrations(schema)) await pool.query(step);
    const store = postgresStore(pool, { schema });
    await store.create(startCommit("a"));
    expect((await store.list()).items.length).toBe(1);
  });

  it("counts no lost claims of an execution that was deleted for another one of its id", async () => {
    const { schema } = fresh();
    const store = postgresStore(pool, { schema, migrate: true, idempotencyRetentionMs: 0 });
    const first = startCommit("a");
    await store.create(first, { claim: { owner: "lost", leaseMs: 1 } });
    await pool.query(`UPDATE "${schema}".executions SET due_at = due_at - 10`);
    expect((await store.claim({ owner: "worker", leaseMs: 1000, limit: 1 }))[0]?.expired).toBe(1);
    await store.commit(stepCommit(first, { status: "cancelled" }));
    await store.delete("a");
    await store.create(startCommit("a"));
    expect((await store.claim({ owner: "worker", leaseMs: 1000, limit: 1 }))[0]?.expired).toBe(0);
  });

  it("refuses a schema that is no plain name", () => {
    for (const schema of ["", 'a"b', "a.b", "a b", "x".repeat(49), "é"]) {
      expect(() => postgresStore(pool, { schema })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
      expect(() => postgresMigrations(schema)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    }
  });

  it("is unavailable, and tells no password, where no server answers", async () => {
    const away = poolOf(1);
    Object.assign(away.options, { connectionString: undefined, host: "127.0.0.1", port: 1, password: "hunter2" });
    const error = await rejection(postgresStore(away, { schema: "x" }).load("a"));
    expect(error.code).toBe("STORE_UNAVAILABLE");
    expect(error.message).not.toContain("hunter2");
    await away.end();
  });

  it("acknowledges a commit again whose acknowledgement was lost on the way", async () => {
    const proxy = await losingProxy();
    const own = proxy.pool;
    const { store } = fresh(own);
    const first = startCommit("a");
    await store.create(first);
    const second = stepCommit(first, { output: "paid" });
    proxy.swallow();
    const lost = store.commit(second);
    await proxy.swallowed;
    // the server has written the commit, and its answer is lost
    proxy.cut();
    expect((await rejection(lost)).code).toBe("STORE_UNAVAILABLE");
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    await own.end();
    await proxy.close();
  });

  it("is unavailable where a statement timeout ends the wait for one execution, and writes the others of the group", async () => {
    const { schema, store } = fresh();
    const firsts = ["a", "b", "c"].map((id) => startCommit(id));
    for (const first of firsts) await store.create(first);
    const holder = await pool.connect();
    await holder.query("BEGIN");
    await holder.query(`SELECT 1 FROM "${schema}".executions WHERE id = 'b' FOR UPDATE`);
    const impatient = poolOf(1);
    Object.assign(impatient.options, { statement_timeout: 200 });
    const other = postgresStore(impatient, { schema });
    const settled = await Promise.allSettled(firsts.map((first) => other.commit(stepCommit(first))));
    await holder.query("ROLLBACK");
    holder.release();
    expect(settled.map((one) => (one.status === "fulfilled" ? "written" : (one.reason as StepfoldError).code))).toEqual([
      "written",
      "STORE_UNAVAILABLE",
      "written",
    ]);
    expect(await store.load("b")).toEqual(snapshotAfter(firsts[1]!));
    expect((await store.load("c"))?.version).toBe(1);
    await impatient.end();
  });

  it("goes on without kept plans where a pooler loses them", async () => {
    const texts: unknown[] = [];
    const pooler = {
      connect: () => undefined,
      end: () => undefined,
      on: () => undefined,
      async query(statement: string | { name?: string; text: string; values: unknown[] }, values?: unknown[]) {
        texts.push(statement);
        if (typeof statement === "string") return pool.query(statement, values);
        if (statement.name === undefined) return pool.query(statement);
        throw Object.assign(new TypeError(`prepared statement "${statement.name}" does not exist`), { code: "26000" });
      },
    };
    const { store } = fresh(pooler);
    const first = startCommit("a");
    await store.create(first);
    await store.commit(stepCommit(first));
    expect((await store.load("a"))?.version).toBe(1);
    expect(texts.filter((text) => typeof (text as { name?: unknown }).name === "string").length).toBe(1);
  });
});

/** A proxy in front of the server that can lose its answers. */
async function losingProxy() {
  const target = new URL(url!);
  const sockets: Socket[] = [];
  let isSwallowing = false;
  let told = (): void => undefined;
  const swallowed = new Promise<void>((resolve) => {
    told = resolve;
  });
  const server = createServer((near) => {
    const far = connectTo(Number(target.port || 5432), target.hostname);
    sockets.push(near, far);
    near.pipe(far);
    far.on("data", (chunk) => (isSwallowing ? told() : near.write(chunk)));
    for (const socket of [near, far]) socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const through = new URL(url!);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as { port: number }).port);
  const own = poolOf(1);
  Object.assign(own.options, { connectionString: through.href });
  return {
    pool: own,
    swallowed,
    swallow: () => {
      isSwallowing = true;
    },
    cut: () => {
      isSwallowing = false;
      for (const socket of sockets) socket.destroy();
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
