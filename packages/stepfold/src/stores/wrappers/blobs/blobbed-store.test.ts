import { describe, expect, it } from "vitest";
import { memoryBlobs } from "../../../../test/stores/values/values.fixture.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { nextRun } from "../../../testing/contract/records/runs.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { memoryStore } from "../../databases/memory/index.ts";
import { blobbedStore, collectOrphans } from "./index.ts";

const large = "x".repeat(100_000);
const day = 24 * 60 * 60 * 1000;

function setUp(inner: SnapshotStore = memoryStore()) {
  const blobs = memoryBlobs();
  return { inner, blobs, store: blobbedStore(inner, blobs) };
}

describe("a store with blobs", () => {
  it("puts what is large elsewhere, under the execution it belongs to", async () => {
    const { inner, blobs, store } = setUp();
    const first = startCommit("order/1", { input: { large }, incarnation: "inc" });
    const second = stepCommit(first, { output: "small" });
    await store.create(first);
    await store.commit(second);
    expect([...blobs.held.keys()]).toEqual([expect.stringMatching(/^executions\/order%2F1\/inc\/[0-9a-f]{64}$/)]);
    expect(JSON.stringify(await inner.load("order/1")).length).toBeLessThan(1000);
    expect(await store.load("order/1")).toEqual(snapshotAfter(first, second));
  });

  it("deletes the blobs of trimmed runs, and no value that the present run or the first event refers to", async () => {
    const { blobs, store } = setUp();
    const commits: Commit[] = [startCommit("a", { input: large, metadata: { deep: [large] }, incarnation: "inc" })];
    const add = (commit: Commit): number => commits.push(commit);
    for (let run = 2; run < 6; run++) {
      add(stepCommit(commits.at(-1)!, { output: large }));
      add(nextRun(commits, { at: run, input: large }));
      // two values that are the same in every run, and one of its own
      add(stepCommit(commits.at(-1)!, { outputs: [large, `${large}${run}`] }));
    }
    await store.create(commits[0]!);
    for (const commit of commits.slice(1)) await store.commit(commit);
    const runsIn = () => [...new Set([...blobs.held.keys()].map((key) => key.split("/").slice(3, -1).join("/")))].sort();
    expect(runsIn()).toEqual(["", "1", "2", "3", "4", "5"]);
    await store.trim({ before: 100, dryRun: true });
    expect(runsIn()).toEqual(["", "1", "2", "3", "4", "5"]);
    expect(await store.trim({ before: 100 })).toMatchObject({ executions: 1 });
    expect(runsIn()).toEqual(["", "5"]);
    expect(await store.load("a")).toEqual(snapshotAfter(...commits));
    expect((await store.events("a", -1, 1))[0]!.event).toEqual(commits[0]!.events[0]);
    add(nextRun(commits, { at: 6, input: large }));
    await store.commit(commits.at(-1)!);
    await store.trim({ before: 100 });
    expect(runsIn()).toEqual(["", "6"]);
    expect(await store.load("a")).toEqual(snapshotAfter(...commits));
  });

  it("puts a value once, however often the head repeats it", async () => {
    const { blobs, store } = setUp();
    let last: Commit = startCommit("a", { input: large, metadata: { deep: [large] } });
    await store.create(last);
    for (let count = 0; count < 20; count++) {
      last = stepCommit(last, { head: { output: `${large} output` } });
      await store.commit(last);
    }
    expect(new Set(blobs.puts).size).toBe(3);
    expect(blobs.puts.length).toBe(new Set(blobs.puts).size);
  });

  it("puts a blob before the commit that refers to it, and sends no commit without", async () => {
    const { inner, blobs } = setUp();
    const failing = { ...blobs, put: () => Promise.reject(new TypeError("no network")) };
    const store = blobbedStore(inner, failing);
    const first = startCommit("a");
    await store.create(first);
    const refused = { code: "STORE_UNAVAILABLE", retryable: true, message: expect.stringContaining("putting executions/") };
    await expect(store.commit(stepCommit(first, { output: large }))).rejects.toMatchObject(refused);
    await expect(store.create(startCommit("b", { input: large }))).rejects.toMatchObject(refused);
    expect([(await inner.load("a"))?.version, await inner.load("b")]).toEqual([0, null]);
    const third = stepCommit(first, { output: "small" });
    await store.commit(third);
    expect(await store.load("a")).toEqual(snapshotAfter(first, third));
  });

  it("gets many, a few at a time, and once what is there twice", async () => {
    const { inner, blobs, store } = setUp();
    const first = startCommit("a");
    const outputs = Array.from({ length: 200 }, (_, index) => `${large} ${index >> 1}`);
    const second = stepCommit(first, { outputs });
    await store.create(first);
    await store.commit(second);
    let [underWay, most, gets] = [0, 0, 0];
    const get = async (key: string) => {
      most = Math.max(most, ++underWay);
      gets += 1;
      // longer than the keys of two neighbours take to be computed, which is work of other threads
      await new Promise((resolve) => setTimeout(resolve, 20));
      underWay -= 1;
      return blobs.get(key);
    };
    expect(await blobbedStore(inner, { ...blobs, get }).load("a")).toEqual(snapshotAfter(first, second));
    expect(most).toBeLessThanOrEqual(32);
    expect(gets).toBeLessThan(150);
  });

  it("names the blob that is missing, changed or out of reach", async () => {
    const { inner, blobs, store } = setUp();
    await store.create(startCommit("a", { input: large }));
    const [key] = [...blobs.held.keys()] as [string];
    const reading = (get: () => Promise<Uint8Array | null>) => blobbedStore(inner, { ...blobs, get }).load("a");
    const message = expect.stringContaining(key);
    await expect(reading(async () => null)).rejects.toMatchObject({ code: "STORE_REJECTED", message });
    await expect(reading(async () => new Uint8Array([34, 34]))).rejects.toMatchObject({ code: "STORE_REJECTED", message });
    await expect(reading(() => Promise.reject(new TypeError("no network")))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message });
  });

  it("does not follow a reference to what is another's", async () => {
    const { inner, blobs, store } = setUp();
    await store.create(startCommit("secret", { input: large }));
    const [key] = [...blobs.held.keys()] as [string];
    await inner.create(startCommit("spy", { input: { "~stepfold/blob": 1, key, bytes: 1 } }));
    await expect(store.load("spy")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("not its own") });
  });

  it("lets one of several writers win, and loses nothing", async () => {
    const { store } = setUp();
    let last: Commit = startCommit("a");
    await store.create(last);
    for (let round = 0; round < 20; round++) {
      const rivals = Array.from({ length: 4 }, (_, index) => stepCommit(last, { output: `${large} ${round} ${index % 2}` }));
      const settled = await Promise.allSettled(rivals.map((commit) => store.commit(commit)));
      expect(settled.filter(({ status }) => status === "fulfilled").length).toBe(1);
      last = rivals[settled.findIndex(({ status }) => status === "fulfilled")]!;
    }
    expect((await store.load("a"))!.context.step!.length).toBe(20);
  });

  it("deletes the blobs of what is deleted or pruned, and no others", async () => {
    const { blobs, store } = setUp();
    const statuses = { a: "completed", b: "failed", c: "active", d: "completed" } as const;
    for (const [id, status] of Object.entries(statuses)) await store.create(startCommit(id, { input: `${large} ${id}`, status }));
    const owners = () => [...blobs.held.keys()].map((key) => key.split("/")[1]).sort();
    await store.delete("a");
    expect(owners()).toEqual(["b", "c", "d"]);
    await expect(store.delete("c")).rejects.toMatchObject({ code: "EXECUTION_OPEN" });
    await store.prune({ before: Date.now() + 1000, dryRun: true });
    expect(owners()).toEqual(["b", "c", "d"]);
    expect(await store.prune({ before: Date.now() + 1000, statuses: ["failed"] })).toMatchObject({ executions: 1 });
    expect(owners()).toEqual(["c", "d"]);
    await store.prune({ before: Date.now() + 1000 });
    expect(owners()).toEqual(["c"]);
  });
});

describe("AUDIT 15: a prune", () => {
  it("lists nothing, however many executions have ended", async () => {
    let lists = 0;
    const memory = memoryStore();
    const inner: SnapshotStore = {
      ...memory,
      list: (query) => {
        lists += 1;
        return memory.list(query);
      },
    };
    const { blobs, store } = setUp(inner);
    for (const id of ["a", "b", "c"]) await store.create(startCommit(id, { input: `${large} ${id}`, status: "completed" }));
    expect(await store.prune({ before: Date.now() + 1000, limit: 2 })).toMatchObject({ executions: 2 });
    expect([lists, blobs.held.size]).toEqual([0, 1]);
  });
});

describe("orphans", () => {
  it("of a crash between two deletions, and of starts that were refused, are collected", async () => {
    const { inner, blobs, store } = setUp();
    for (const id of ["kept", "gone"]) await store.create(startCommit(id, { input: `${large} ${id}`, status: "completed" }));
    await expect(store.create(startCommit("kept", { input: large, incarnation: "refused" }))).rejects.toMatchObject({
      code: "WORKFLOW_EXISTS",
    });
    await inner.delete("gone");
    const now = () => Date.now() + 2 * day;
    expect(await collectOrphans(store, blobs, { now, dryRun: true })).toEqual({ executions: 2, blobs: 2 });
    expect(blobs.held.size).toBe(3);
    expect(await collectOrphans(store, blobs, { now })).toEqual({ executions: 2, blobs: 2 });
    expect(await store.load("kept")).toMatchObject({ input: `${large} kept` });
  });

  it("are none while their commit may be under way, or if their id cannot be told", async () => {
    const { inner, blobs, store } = setUp();
    await store.create(startCommit("young", { input: large, status: "completed" }));
    await inner.delete("young");
    expect(await collectOrphans(store, blobs)).toEqual({ executions: 0, blobs: 0 });
    await store.create(startCommit("名".repeat(200), { input: large }));
    await store.create(startCommit("\ud800", { input: large }));
    await store.putDefinition("h", { id: "d", nodes: [], edges: [], description: large });
    expect(await collectOrphans(store, blobs, { now: () => Date.now() + 2 * day })).toEqual({ executions: 1, blobs: 1 });
    for (const id of ["名".repeat(200), "\ud800"]) expect(await store.load(id)).toMatchObject({ input: large });
  });
});
