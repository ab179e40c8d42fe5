import { MongoNetworkError } from "mongodb";
import { describe, expect, it } from "vitest";
import type { SnapshotHead } from "../../../src/core/snapshot/snapshot.ts";
import type { ClaimOptions, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import type { PermitHolder } from "../../../src/stores/kit/claims/permit-holders.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { type FirstCommitOptions, startCommit, stepCommit } from "../../../src/testing/commit-builder.ts";
import { mongoDatabases } from "./mongo-databases.fixture.ts";
import { type Around, observed } from "./observed-database.fixture.ts";

const databases = await mongoDatabases();
const lease = { owner: "worker", leaseMs: 60_000 };

/** Opens a store and, on the same database, a store whose calls go through `around`, with functions that end notices and leases. */
function opened(around: Around = () => undefined) {
  const db = databases.add();
  const records = db.collection<{ _id: string; revision: string; text: string }>("stepfold_records");
  const recordOf = (key: string) => `permit ${key}`;
  const holdersOf = async (key: string): Promise<PermitHolder[]> =>
    JSON.parse((await records.findOne({ _id: recordOf(key) }))?.text ?? "[]") as PermitHolder[];
  const executions = db.collection<{ _id: string }>("stepfold_executions");
  return {
    store: mongoStore(db),
    watched: mongoStore(observed(db, around)),
    holdersOf,
    /** Ends the time of all holders in the record of a key. */
    endNotice: async (key: string) => {
      const holders = (await holdersOf(key)).map((holder) => ({ ...holder, until: 1 }));
      await records.updateOne({ _id: recordOf(key) }, { $set: { text: JSON.stringify(holders) } });
    },
    endLease: (id: string) => executions.updateOne({ _id: id }, { $set: { dueAt: 1 } }),
  };
}

function permitted(id: string, key: string, limit = 1, { head, ...options }: FirstCommitOptions = {}): Commit {
  return startCommit(id, { ...options, head: { ...head, permit: { key, limit } } as Partial<SnapshotHead> });
}

async function fill(store: SnapshotStore, ids: readonly string[], key = "x", limit = 1): Promise<void> {
  for (const id of ids) await store.create(permitted(id, key, limit));
}

async function claimed(store: SnapshotStore, options: Partial<ClaimOptions> = {}): Promise<string[]> {
  return (await store.claim({ ...lease, limit: 10, ...options })).map(({ workflowId }) => workflowId);
}

const lost = () => {
  throw new MongoNetworkError("connection closed");
};

describe("permits in MongoDB (stand-in for a single mongod, or the server at STEPFOLD_MONGODB_URL)", () => {
  it("cost nothing where nobody has one: an idle poll is one question, and no claim looks at a record", async () => {
    const calls: string[] = [];
    const { store, watched } = opened(({ collection, method }) => {
      calls.push(`${collection.slice("stepfold_".length)} ${method}`);
      return undefined;
    });
    expect(await claimed(watched)).toEqual([]);
    expect(calls.splice(0)).toEqual(["executions findOne", "executions aggregate"]);
    const claim = ["executions aggregate", "executions findOneAndUpdate"];
    await store.create(startCommit("a"));
    expect(await claimed(watched, { limit: 1 })).toEqual(["a"]);
    expect(calls.splice(0)).toEqual(claim);
    await store.create(startCommit("b"));
    expect(await claimed(watched, { workflowId: "b" })).toEqual(["b"]);
    expect(calls.splice(0)).toEqual(claim);
  });

  it("leave commits as they are: the row of the key is not touched when a claim ends", async () => {
    const calls: string[] = [];
    const { store, watched } = opened(({ collection }) => {
      calls.push(collection);
      return undefined;
    });
    await fill(store, ["a"]);
    const [{ claim, snapshot } = expect.fail("nothing was claimed")] = await claimAndLoad(store, { ...lease, limit: 1 });
    await watched.renew(claim);
    await watched.commit(stepCommit(snapshot, { fence: claim.fence, release: true, status: "paused" }));
    expect(calls).not.toContain("stepfold_records");
  });

  it("whoever dies before it has claimed what it noted takes up a place for a moment only, and never a second one", async () => {
    const { store, watched, endNotice } = opened(({ method }) => (method === "findOneAndUpdate" ? { before: lost } : undefined));
    await fill(store, ["a", "b"]);
    await expect(watched.claim({ ...lease, limit: 1 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await claimed(store)).toEqual([]);
    await endNotice("x");
    expect(await claimed(store)).toEqual(["a"]);
    expect(await claimed(store)).toEqual([]);
  });

  it("whoever is late to claim what it noted does not get it once its place was given away", async () => {
    const late = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const wait = (): Promise<void> => {
      arrived.resolve();
      return late.promise;
    };
    const { store, watched, endNotice } = opened(({ method }) => (method === "findOneAndUpdate" ? { before: wait } : undefined));
    await fill(store, ["a", "b"]);
    const slow = claimed(watched, { workflowId: "a" });
    await arrived.promise;
    await endNotice("x");
    expect(await claimed(store, { workflowId: "b" })).toEqual(["b"]);
    late.resolve();
    expect(await slow).toEqual([]);
    expect(await claimed(store)).toEqual([]);
  });

  it("whoever finds that what it noted has ended meanwhile gives the place back at once", async () => {
    let end = async (): Promise<void> => {};
    const { store, watched, holdersOf } = opened(({ method }) => (method === "findOneAndUpdate" ? { before: () => end() } : undefined));
    const first = permitted("a", "x");
    await store.create(first);
    await store.create(permitted("b", "x"));
    end = async () => {
      end = async () => {};
      await store.commit(stepCommit(first, { status: "cancelled" }));
    };
    expect(await claimed(watched)).toEqual(["b"]);
    expect((await holdersOf("x")).map(({ id }) => id)).toEqual(["b"]);
  });

  it("a claim whose lease has ended cannot be renewed once its place was given away, and counts as one that was lost", async () => {
    const { store, endLease } = opened();
    await fill(store, ["a", "b"]);
    const [claim = expect.fail("nothing was claimed")] = await store.claim({ ...lease, limit: 1 });
    await endLease("a");
    expect(await store.renew(claim)).toMatchObject({ version: 0 });
    expect(await claimed(store)).toEqual([]);
    await endLease("a");
    expect(await claimed(store, { workflowId: "b" })).toEqual(["b"]);
    await expect(store.renew(claim)).rejects.toMatchObject({ code: "FENCE_LOST" });
    const [b] = (await store.list()).items;
    expect(b).toMatchObject({ workflowId: "b", lease: { crashes: 0 } });
    await store.commit(stepCommit((await store.load("b"))!, { status: "cancelled" }));
    const [again] = await store.claim({ ...lease, limit: 1 });
    expect(again).toMatchObject({ workflowId: "a", crashes: 1 });
  });

  it("of many keys each has its turn, however few are claimed at once, and those that wait cost a few calls", {
    timeout: 60_000,
  }, async () => {
    let calls = 0;
    const { store, watched } = opened(() => {
      calls++;
      return undefined;
    });
    const keys = Array.from({ length: 150 }, (_, index) => `key-${String(index).padStart(3, "0")}`);
    for (const key of keys) await fill(store, [`${key}.a`, `${key}.b`], key);
    const had: string[] = [];
    for (let found = await claimed(watched, { limit: 7 }); found.length > 0; found = await claimed(watched, { limit: 7 }))
      had.push(...found);
    expect(had.sort()).toEqual(keys.map((key) => `${key}.a`));
    calls = 0;
    expect(await claimed(watched)).toEqual([]);
    // the executions of 150 keys are due, and all of them wait for a permit
    expect(calls).toBeLessThan(30);
  });

  it("as many of each key are claimed at once as are free", async () => {
    const { store } = opened();
    const ids = (key: string): string[] => Array.from({ length: 30 }, (_, index) => `${key}${String(index).padStart(2, "0")}`);
    await fill(store, ids("x"), "x", 20);
    await fill(store, ids("y"), "y", 25);
    const had = (await claimed(store, { limit: 100 })).sort();
    expect(had).toEqual([...ids("x").slice(0, 20), ...ids("y").slice(0, 25)]);
  });

  it("are not needed where a deadline has passed: those that are held, or have time left, are not in the way, and cost a few calls", async () => {
    let calls = 0;
    const { store, watched } = opened(({ method }) => {
      if (method === "aggregate") calls++;
      return undefined;
    });
    const create = async (ids: readonly string[], deadlineAt: number): Promise<void> => {
      for (const id of ids) await store.create(permitted(id, "x", 1, { head: { deadlineAt } }));
    };
    const numbered = (name: string): string[] => Array.from({ length: 150 }, (_, index) => `${name}${String(index).padStart(3, "0")}`);
    await fill(store, ["holder"]);
    expect(await claimed(store)).toEqual(["holder"]);
    await create(numbered("early"), Date.now() + 3_600_000);
    await create(["late"], 2);
    await create(numbered("held"), 1);
    expect(await claimed(store, { limit: 150 })).toEqual(numbered("held"));
    calls = 0;
    expect(await claimed(watched, { limit: 1 })).toEqual(["late"]);
    // one for those without a permit, and three for 150 that are held
    expect(calls).toBe(4);
    await create(["again"], 0);
    calls = 0;
    expect(await claimed(watched, { limit: 1 })).toEqual(["again"]);
    expect(calls).toBe(2);
  });

  it("records of keys that nobody uses any longer are pruned, those of others stay", async () => {
    const { store, holdersOf } = opened();
    await fill(store, ["a"], "x");
    await fill(store, ["b"], "y");
    for (const { claim, snapshot } of await claimAndLoad(store, { ...lease, limit: 2 })) {
      if (snapshot.workflowId === "a") await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
    }
    await store.prune({ before: 0 });
    expect((await holdersOf("x")).map(({ id }) => id)).toEqual(["a"]);
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    expect(await holdersOf("x")).toEqual([]);
    expect((await holdersOf("y")).map(({ id }) => id)).toEqual(["b"]);
  });
});
