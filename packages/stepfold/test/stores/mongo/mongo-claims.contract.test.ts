import { describe, expect, it } from "vitest";
import { mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { mongoDatabases } from "./mongo-databases.fixture.ts";
import { observed } from "./observed-database.fixture.ts";

const databases = await mongoDatabases();
const lease = { owner: "worker", leaseMs: 60_000 };

/** Opens a store with its collection of executions. `age` changes a document directly. */
function opened() {
  const db = databases.add();
  const executions = db.collection<{ _id: string; dueAt: number }>("stepfold_executions");
  const age = (id: string, changed: object) => executions.updateOne({ _id: id }, { $set: changed });
  return { db, executions, store: mongoStore(db), age };
}

describe("what is overdue in MongoDB (stand-in for a single mongod, or the server at STEPFOLD_MONGODB_URL)", () => {
  it("is all that is written to: what has just become due is left alone", async () => {
    const { db, store, age } = opened();
    for (let index = 0; index < 40; index++) await store.create(startCommit(`id-${index}`));
    await age("id-30", { dueAt: Date.now() - 90_000, wakeAt: Date.now() - 90_000 });
    const calls: string[] = [];
    const watched = observed(db, ({ collection, method }) => {
      calls.push(`${collection} ${method}`);
      return undefined;
    });
    const claimed = await mongoStore(watched).claim({ ...lease, limit: 10, overdueMs: 60_000 });
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(["id-30"]);
    expect(calls.filter((call) => call === "stepfold_executions findOneAndUpdate")).toHaveLength(1);
  });

  it("is what has been due for long, also after commits that say so again", async () => {
    const { executions, store } = opened();
    const first = startCommit("a");
    await store.create(first);
    const { dueAt } = (await executions.findOne({ _id: "a" }))!;
    expect(dueAt).toBeGreaterThan(Date.now() - 60_000);
    await executions.updateOne({ _id: "a" }, { $set: { dueAt: Date.now() - 90_000 } });
    await store.commit(stepCommit(first, { wakeAt: 0 }));
    expect(await store.claim({ ...lease, limit: 1, overdueMs: 60_000 })).toHaveLength(1);
  });
});

describe("a claim of many in MongoDB (stand-in for a single mongod, or the server at STEPFOLD_MONGODB_URL)", () => {
  it("takes each of them once, also if it takes longer than the lease", async () => {
    const { store } = opened();
    const ids = Array.from({ length: 40 }, (_, index) => `id-${index}`);
    for (const id of ids) await store.create(startCommit(id));
    const claimed = await store.claim({ owner: "worker", leaseMs: 1, limit: 100 });
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(ids);
    expect(new Set(claimed.map(({ crashes }) => crashes))).toEqual(new Set([0]));
  });
});
