import { Client, type Pool } from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import type { TransactionQuery } from "../../../src/ports/transaction-query.ts";
import { migratePostgres, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(16);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

/** Opens a store in a schema that also has a table of the application. */
async function beside(over: Pool = pool) {
  const schema = newSchema();
  schemas.push(schema);
  await migratePostgres(pool, { schema });
  await pool.query(`CREATE TABLE "${schema}".notes (note text NOT NULL)`);
  const store = postgresStore(over, { schema });
  const write = (note: string) => async (query: TransactionQuery) => {
    await query(`INSERT INTO "${schema}".notes VALUES ($1)`, [note]);
  };
  const notes = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ note: string }>(`SELECT note FROM "${schema}".notes ORDER BY note`);
    return rows.map(({ note }) => note);
  };
  return { schema, store, write, notes };
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const [settled] = await Promise.allSettled([work]);
  if (settled.status === "fulfilled") return "written";
  return StepfoldError.is(settled.reason) ? settled.reason.code : String(settled.reason);
};

describe.skipIf(url === null)("PostgreSQL: what is written with a commit", () => {
  it("is there with a start and with a commit", async () => {
    const { store, write, notes } = await beside();
    expect(store.features.transactions).toBe("postgres");
    const first: Commit = { ...startCommit("a"), alongside: write("started") };
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    expect(claim).toMatchObject({ owner: "worker", fence: 1, workflowId: "a" });
    expect(await notes()).toEqual(["started"]);
    const second = stepCommit(first, { output: "paid", fence: 1 });
    await store.commit({ ...second, alongside: write("stepped") });
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect(await notes()).toEqual(["started", "stepped"]);
  });

  it("sees the commit, and nobody else does before both are there", async () => {
    const { schema, store } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const versions: unknown[] = [];
    const text = `SELECT version::int AS version FROM "${schema}".executions WHERE id = 'a'`;
    await store.commit({
      ...stepCommit(first),
      async alongside(query) {
        versions.push((await query(text)).rows[0], (await pool.query(text)).rows[0]);
      },
    });
    expect(versions).toEqual([{ version: 1 }, { version: 0 }]);
  });

  it("undoes the commit if it fails, and the same commit can be made afterwards", async () => {
    const { store, write, notes } = await beside();
    const first = startCommit("a");
    const failure = new StepfoldError("QUEUE_UNAVAILABLE", { queue: "q", reason: "as asked" });
    const failing = async (query: TransactionQuery): Promise<void> => {
      await write("lost")(query);
      throw failure;
    };
    await expect(store.create({ ...first, alongside: failing })).rejects.toBe(failure);
    expect(await store.load("a")).toBe(null);
    await store.create({ ...first, alongside: write("started") });
    const second = stepCommit(first);
    await expect(store.commit({ ...second, alongside: failing })).rejects.toBe(failure);
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    expect((await store.events("a", -1, 10)).length).toBe(1);
    expect(await notes()).toEqual(["started"]);
    await store.commit({ ...second, alongside: write("stepped") });
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect(await notes()).toEqual(["started", "stepped"]);
  });

  it("is not written if the commit is refused", async () => {
    const { store, write, notes } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const second = stepCommit(first);
    await store.commit(second);
    const late = { ...stepCommit(first), alongside: write("late") };
    expect(await codeOf(store.commit(late))).toBe("VERSION_CONFLICT");
    expect(await codeOf(store.create({ ...startCommit("a"), alongside: write("again") }))).toBe("WORKFLOW_EXISTS");
    expect(await codeOf(store.commit({ ...stepCommit(second, { fence: 7 }), alongside: write("robbed") }))).toBe("FENCE_LOST");
    expect(await notes()).toEqual([]);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
  });

  it("comes with exactly one of 20 commits on one version, and with its own", async () => {
    const { store, write, notes, schema } = await beside();
    const other = postgresStore(pool, { schema });
    const first = startCommit("a");
    await store.create(first);
    const commits = Array.from({ length: 20 }, (_, index) => ({
      ...stepCommit(first, { output: index }),
      ...(index % 4 > 0 && { alongside: write(String(index)) }),
    }));
    const codes = await Promise.all(commits.map((commit, index) => codeOf((index % 2 ? store : other).commit(commit))));
    expect(codes.filter((code) => code === "written").length).toBe(1);
    expect(codes.filter((code) => code === "VERSION_CONFLICT").length).toBe(19);
    const winner = codes.indexOf("written");
    expect(await notes()).toEqual(winner % 4 > 0 ? [String(winner)] : []);
    expect(await store.load("a")).toEqual(snapshotAfter(first, commits[winner]!));
  });

  it("is lost together with the commit if the connection ends between the two", async () => {
    const { store, write, notes } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const second = stepCommit(first);
    const cutting = async (query: TransactionQuery): Promise<void> => {
      const { rows } = await query("SELECT pg_backend_pid() AS pid");
      await pool.query("SELECT pg_terminate_backend($1)", [(rows[0] as { pid: number }).pid]);
      await write("lost")(query);
    };
    expect(await codeOf(store.commit({ ...second, alongside: cutting }))).toBe("STORE_UNAVAILABLE");
    expect(await codeOf(store.create({ ...startCommit("b"), alongside: cutting }))).toBe("STORE_UNAVAILABLE");
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    expect(await store.load("b")).toBe(null);
    expect(await notes()).toEqual([]);
    await store.commit({ ...second, alongside: write("stepped") });
    expect(await notes()).toEqual(["stepped"]);
  });

  it("is lost together with the commit if the connection ends after both, before the end of the transaction", async () => {
    const { store, write, notes } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const cutting = async (query: TransactionQuery): Promise<void> => {
      await write("lost")(query);
      const { rows } = await query("SELECT pg_backend_pid() AS pid");
      await pool.query("SELECT pg_terminate_backend($1)", [(rows[0] as { pid: number }).pid]);
      // no query is under way, so only the pool hears that the connection has ended
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    expect(await codeOf(store.commit({ ...stepCommit(first), alongside: cutting }))).toBe("STORE_UNAVAILABLE");
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    expect(await notes()).toEqual([]);
  });

  it("is written again with a commit that was applied before, and that is applied once", async () => {
    const { store, write, notes } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const second = { ...stepCommit(first), alongside: write("stepped") };
    await store.commit(second);
    await store.commit(second);
    expect((await store.events("a", -1, 10)).length).toBe(2);
    expect(await notes()).toEqual(["stepped", "stepped"]);
  });

  it("undoes the commit loudly if a statement of it failed and nobody said so", async () => {
    const { store, notes } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const hiding = async (query: TransactionQuery): Promise<void> => {
      await query("SELECT 1/0").catch(() => undefined);
    };
    expect(await codeOf(store.commit({ ...stepCommit(first), alongside: hiding }))).toBe("STORE_REJECTED");
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    expect(await notes()).toEqual([]);
  });

  it("says why the database refused it", async () => {
    const { store } = await beside();
    const first = startCommit("a");
    await store.create(first);
    const wrong = async (query: TransactionQuery): Promise<void> => {
      await query("INSERT INTO nowhere_at_all VALUES (1)");
    };
    expect(await codeOf(store.commit({ ...stepCommit(first), alongside: wrong }))).toBe("STORE_REJECTED");
  });

  it("needs one connection, also for a refusal, and leaves it as it was", async () => {
    const narrow = poolOf(1);
    const { store, write, notes } = await beside(narrow);
    const firsts = Array.from({ length: 12 }, (_, index) => startCommit(`id-${String(index).padStart(2, "0")}`));
    await Promise.all(firsts.map((first) => store.create({ ...first, alongside: write("started") })));
    const codes = await Promise.all(
      firsts.flatMap((first) => [
        codeOf(store.commit({ ...stepCommit(first), alongside: write("stepped") })),
        codeOf(store.commit({ ...stepCommit(first), alongside: write("late") })),
      ]),
    );
    expect(codes.toSorted()).toEqual([...firsts.map(() => "VERSION_CONFLICT"), ...firsts.map(() => "written")]);
    expect(await notes()).toEqual([...firsts.map(() => "started"), ...firsts.map(() => "stepped")]);
    const { rows } = await narrow.query("SELECT pg_current_xact_id_if_assigned() AS open");
    expect(rows).toEqual([{ open: null }]);
    await narrow.end();
  });

  it("makes the tables first where that is wished", async () => {
    const schema = newSchema();
    schemas.push(schema);
    const store = postgresStore(pool, { schema, migrate: true });
    const seen: unknown[] = [];
    const looking = async (query: TransactionQuery): Promise<void> => {
      seen.push(...(await query(`SELECT id FROM "${schema}".executions`)).rows);
    };
    await store.create({ ...startCommit("a"), alongside: looking });
    expect(seen).toEqual([{ id: "a" }]);
  });

  it("is not offered over a client that others send through, too", async () => {
    const client = new Client({ connectionString: url! });
    expect(postgresStore(client).features.transactions).toBe(undefined);
    expect(postgresStore({ query: (text, values) => pool.query(text, values) }).features.transactions).toBe(undefined);
  });
});
