import { fileURLToPath } from "node:url";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { type D1Client, type D1Statement, d1Migrations, d1Store, migrateD1 } from "../../../src/stores/databases/d1/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { openWorkerd } from "./workerd.fixture.ts";

// the tests use the real D1 of workerd from Node, through miniflare
const names = ["NEW", "SERVER", "RACE", "OTHER", "VIEW", "COST"] as const;
let workerd: Miniflare;
beforeAll(async () => {
  workerd = await openWorkerd(fileURLToPath(new URL("contract-worker.ts", import.meta.url)), {
    d1Databases: [...names],
    durableObjects: { CASES: { className: "Cases", useSQLite: true } },
  });
});
afterAll(() => workerd.dispose());

const database = (name: (typeof names)[number]): Promise<D1Client> => workerd.getD1Database(name);

describe("a D1 store and the tables", () => {
  it("asks for them, and makes them where it is told to", async () => {
    const db = await database("NEW");
    await expect(d1Store(db).load("a")).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringContaining("migrateD1(env.DB)"),
    });
    await d1Store(db, { migrate: true }).create(startCommit("a"));
    expect((await d1Store(db).load("a"))?.version).toBe(0);
  });

  it("finds those that a migration of wrangler has made", async () => {
    const db = await database("SERVER");
    await db.batch(d1Migrations().map((sql) => db.prepare(sql)));
    await d1Store(db).create(startCommit("a"));
    expect((await d1Store(db).load("a"))?.version).toBe(0);
  });

  it("makes them once, however many workers do it at the same time", async () => {
    await Promise.all(Array.from({ length: 6 }, async () => migrateD1(await database("RACE"))));
    expect(await d1Store(await database("RACE")).list()).toEqual({ items: [], nextCursor: null });
  });

  it("leaves those alone that another version made", async () => {
    const db = await database("OTHER");
    await db.batch([db.prepare("CREATE VIEW stepfold_layout_999 AS SELECT 999 AS layout")]);
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining("it has layout 999") };
    await expect(d1Store(db).load("a")).rejects.toMatchObject(refused);
    await expect(migrateD1(db)).rejects.toMatchObject(refused);
  });
});

describe("a D1 store", () => {
  it("refuses options that there are not", async () => {
    const options = { migrates: true } as object;
    const db = await database("NEW");
    expect(() => d1Store(db, options)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
  });

  it("says whether the same call may succeed later", async () => {
    const failing = (message: string): D1Client => ({
      prepare: () => ({ bind: () => failing(message).prepare(""), all: () => Promise.reject(new TypeError(message)) }),
      batch: () => Promise.reject(new TypeError(message)),
    });
    const codeOf = (message: string) =>
      d1Store(failing(message))
        .load("a")
        .catch(({ code }: { readonly code: string }) => code);
    expect(await codeOf("D1_ERROR: D1 DB is overloaded. Too many requests queued.")).toBe("STORE_UNAVAILABLE");
    expect(await codeOf("D1_ERROR: Network connection lost.")).toBe("STORE_UNAVAILABLE");
    expect(await codeOf("D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.")).toBe("STORE_UNAVAILABLE");
    expect(await codeOf('D1_ERROR: near "SELEC": syntax error: SQLITE_ERROR')).toBe("STORE_REJECTED");
  });

  it("shows an execution as one JSON document in a view", async () => {
    const db = await database("VIEW");
    const store = d1Store(db, { migrate: true });
    const first = startCommit("a", { metadata: { team: "red" } });
    await store.create(first);
    await store.commit(stepCommit(first, { output: { deep: [0.5] } }));
    const { results } = await db
      .prepare("SELECT snapshot, version FROM workflow_executions WHERE snapshot ->> '$.context.step[0].output.deep[0]' = 0.5")
      .all();
    expect(results.map(({ version }) => version)).toEqual([1]);
    expect(JSON.parse(results[0]!.snapshot as string)).toMatchObject({ workflowId: "a", metadata: { team: "red" } });
  });

  it("commits in one round trip, which writes as much for the 100th event as for the 2nd", async () => {
    const calls: number[] = [];
    const real = await database("COST");
    const db: D1Client = {
      prepare: (sql) => real.prepare(sql),
      async batch(statements: D1Statement[]) {
        const answers = await real.batch(statements);
        calls.push(answers.reduce((sum, answer) => sum + (answer as unknown as { meta: { rows_written: number } }).meta.rows_written, 0));
        return answers;
      },
    };
    const store = d1Store(db, { migrate: true });
    const first = startCommit("a");
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    let last: Commit = first;
    const step = async (outputs?: number[]): Promise<number[]> => {
      const before = calls.length;
      last = stepCommit(last, { fence: claim!.fence, ...(outputs && { outputs }) });
      await store.commit(last);
      return calls.slice(before);
    };
    const early = await step();
    await step(Array.from({ length: 100 }, (_, index) => index));
    expect(await step()).toEqual(early);
    expect(early).toHaveLength(1);
    // the commit writes the row of the execution, the event and the index of events
    expect(early[0]).toBeLessThanOrEqual(4);
  });
});
