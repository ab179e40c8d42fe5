import { describe, expect, it } from "vitest";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { memoryStore } from "../../databases/memory/index.ts";
import { compressedStore } from "../compressed/index.ts";
import { encryptedStore } from "./index.ts";

const secret = (seed: number): Uint8Array => new Uint8Array(32).fill(seed);
const keys = [{ id: "k", key: secret(1) }];
const searchKey = secret(2);
const lease = { owner: "worker", leaseMs: 60_000, limit: 10 };

function permitted(workflowId: string, key: string, limit = 1): Commit {
  const permit = { key, limit };
  const commit = startCommit(workflowId, { head: { permit } });
  return { ...commit, events: [{ ...commit.events[0]!, permit } as Commit["events"][number]] };
}

async function ids(store: SnapshotStore, permit?: string): Promise<string[]> {
  const claimed = await store.claim({ ...lease, ...(permit !== undefined && { permit }) });
  return claimed.map(({ workflowId }) => workflowId);
}

describe("executions with a concurrency key in an encrypted store", () => {
  it("share a key that cannot be read, also with what another key encrypted", async () => {
    const inner = memoryStore();
    const rotated = encryptedStore(inner, { keys: [{ id: "later", key: secret(3) }, ...keys], searchKey });
    await encryptedStore(inner, { keys, searchKey }).create(permitted("a", "customer-7"));
    const second = permitted("b", "customer-7");
    await rotated.create(second);
    await rotated.create(permitted("c", "customer-8"));
    expect((await ids(rotated)).sort()).toEqual(["a", "c"]);
    expect(await ids(rotated, "customer-7")).toEqual([]);
    await rotated.commit(stepCommit((await rotated.load("a"))!, { status: "completed" }));
    expect(await ids(rotated, "customer-7")).toEqual(["b"]);
    const stored = [await inner.load("a"), await inner.load("b"), await inner.events("a", -1, 9)];
    expect(JSON.stringify(stored)).not.toContain("customer");
    expect((await inner.load("b"))!.permit).toMatchObject({ key: expect.stringMatching(/^[\w+/]{43}=$/), limit: 1 });
    expect(await rotated.load("b")).toEqual(snapshotAfter(second));
    expect((await rotated.events("b", -1, 1))[0]!.event).toEqual(second.events[0]);
  });

  it("begin no faster than their rate limit allows, whose key cannot be read either", async () => {
    const inner = memoryStore();
    const store = encryptedStore(inner, { keys, searchKey });
    const rate = { key: "customer-7", limit: 1, periodMs: 3_600_000 };
    const rated = (workflowId: string): Commit => {
      const commit = startCommit(workflowId, { head: { rate } });
      return { ...commit, events: [{ ...commit.events[0]!, rate } as Commit["events"][number]] };
    };
    const first = rated("a");
    await store.create(first);
    await store.create(rated("b"));
    expect(await ids(store)).toEqual(["a"]);
    const stored = [await inner.load("a"), await inner.events("a", -1, 9)];
    expect(JSON.stringify(stored)).not.toContain("customer");
    expect((await inner.load("a"))!.rate).toMatchObject({ key: expect.stringMatching(/^[\w+/]{43}=$/), limit: 1, periodMs: 3_600_000 });
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    expect((await store.events("a", -1, 1))[0]!.event).toEqual(first.events[0]);
  });

  it("have another token than metadata with the same words", async () => {
    const inner = memoryStore();
    const store = encryptedStore(inner, { keys, searchKey });
    const { head, ...commit } = permitted("a", "customer-7");
    await store.create({ ...commit, head: { ...head, metadata: { permit: "customer-7", key: "customer-7" } } });
    const { permit, metadata } = (await inner.load("a"))!;
    expect(Object.keys(metadata)).not.toContain(permit!.key);
  });

  it("need a search key: without it the store claims no permits, and creates none", async () => {
    const store = encryptedStore(memoryStore(), { keys });
    expect(store.features.permits).toBeUndefined();
    const refused = { code: "OPTION_INVALID", message: expect.stringContaining("Pass searchKey to encryptedStore") };
    await expect(store.create(permitted("a", "x"))).rejects.toMatchObject(refused);
    expect(await ids(store, "x")).toEqual([]);
    expect(encryptedStore(memoryStore(), { keys, searchKey }).features.permits).toBe(true);
    const { permits: _, ...features } = memoryStore().features;
    expect(encryptedStore({ ...memoryStore(), features }, { keys, searchKey }).features.permits).toBeUndefined();
  });

  it.each([[searchKey], [undefined]])("go on if they were created before there was encryption", async (given) => {
    const inner = memoryStore();
    const first = permitted("a", "x");
    await inner.create(first);
    await inner.create(permitted("b", "x"));
    const store = encryptedStore(inner, { keys, plain: "accept", ...(given && { searchKey: given }) });
    const second = stepCommit(first, { output: "later" });
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect(await ids(store)).toEqual(["a"]);
    await store.commit(stepCommit(second, { status: "completed" }));
    expect(await ids(store)).toEqual(["b"]);
  });

  it("cannot be given the permit of another one", async () => {
    const inner = memoryStore();
    const store = encryptedStore(inner, { keys, searchKey });
    for (const id of ["a", "b"]) await store.create(permitted(id, id));
    const [a, b] = [await inner.load("a"), await inner.load("b")];
    const reading = encryptedStore({ ...inner, load: async () => ({ ...a!, permit: b!.permit! }) }, { keys, searchKey });
    await expect(reading.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("permit") });
  });

  it("share their permits through stores in stores", async () => {
    const inner = encryptedStore(memoryStore(), { keys, searchKey });
    const store = compressedStore(encryptedStore(compressedStore(inner, { aboveBytes: 20 }), { keys, searchKey }));
    const long = "k".repeat(255);
    for (const id of ["a", "b"]) await store.create(permitted(id, long));
    expect(store.features.permits).toBe(true);
    expect(await ids(store, long)).toEqual(["a"]);
    expect((await store.load("b"))!.permit).toEqual({ key: long, limit: 1 });
  });
});
