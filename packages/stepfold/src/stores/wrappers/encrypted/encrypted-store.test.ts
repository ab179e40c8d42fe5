import { describe, expect, it } from "vitest";
import { recorded } from "../../../../test/stores/values/values.fixture.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { memoryStore } from "../../databases/memory/index.ts";
import { encryptedStore, executionsWithKey } from "./index.ts";

const key = (seed: number): Uint8Array => new Uint8Array(32).fill(seed);
const old = { id: "2025", key: key(1) };
const fresh = { id: "2026", key: key(2) };
const searchKey = key(3);
const data = /"data":"([^"]{4})/g;

/** The inner store with changed texts in its answers. */
function altered(inner: SnapshotStore, alter: (text: string) => string): SnapshotStore {
  const through = async <T>(given: Promise<T>): Promise<T> => JSON.parse(alter(JSON.stringify(await given))) as T;
  return {
    ...inner,
    load: (workflowId) => through(inner.load(workflowId)),
    events: (...asked) => through(inner.events(...asked)),
    list: (query) => through(inner.list(query)),
    claim: (options) => through(inner.claim(options)),
  };
}

describe("keys", () => {
  it("are changed by putting a new one first: what is old stays readable, what is new needs only the new one", async () => {
    const inner = memoryStore();
    const [first, second] = [startCommit("a", { input: "old" }), startCommit("b", { input: "new" })];
    await encryptedStore(inner, { keys: [old] }).create(first);
    const both = encryptedStore(inner, { keys: [fresh, old] });
    await both.create(second);
    await both.commit(stepCommit(first, { output: "new" }));
    expect(await both.load("a")).toMatchObject({ input: "old", context: { step: [{ output: "new" }] } });
    const newest = encryptedStore(inner, { keys: [fresh] });
    expect(await newest.load("b")).toEqual(snapshotAfter(second));
    await expect(newest.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining('"2025"') });
  });

  it("are needed as long as an execution has values of them", async () => {
    const inner = memoryStore();
    const using = async (keyId: string) => {
      const ids: string[] = [];
      for await (const id of executionsWithKey(inner, keyId)) ids.push(id);
      return ids.sort();
    };
    const first = startCommit("a", { status: "active" });
    await encryptedStore(inner, { keys: [old] }).create(first);
    const store = encryptedStore(inner, { keys: [fresh, old] });
    await store.create(startCommit("b", { input: 1 }));
    expect([await using("2025"), await using("2026")]).toEqual([["a"], ["b"]]);
    await store.commit(stepCommit(first, { status: "completed" }));
    expect([await using("2025"), await using("2026")]).toEqual([["a"], ["a", "b"]]);
    await store.delete("a");
    expect(await using("2025")).toEqual([]);
  });

  it("do not stay necessary for definitions that are put again", async () => {
    const inner = memoryStore();
    const definition = { id: "order", nodes: [], edges: [] };
    await encryptedStore(inner, { keys: [old] }).putDefinition("h", definition);
    const both = encryptedStore(inner, { keys: [fresh, old] });
    expect(await both.getDefinition("h")).toEqual(definition);
    await both.putDefinition("h", definition);
    expect(await encryptedStore(inner, { keys: [fresh] }).getDefinition("h")).toEqual(definition);
  });

  it("are checked when the store is made", () => {
    const bad: [object, string][] = [
      [{ keys: [] }, "keys"],
      [{ keys: [old, { id: "2025", key: key(9) }] }, "keys"],
      [{ keys: [{ id: "a b", key: key(1) }] }, "keys"],
      [{ keys: [{ id: "a", key: new Uint8Array(16) }] }, "keys"],
      [{ keys: [{ id: "a", key: "x".repeat(32) }] }, "keys"],
      [{ keys: [old], searchKey: new Uint8Array(31) }, "searchKey"],
    ];
    for (const [options, option] of bad) {
      const make = () => encryptedStore(memoryStore(), options as Parameters<typeof encryptedStore>[1]);
      expect(make).toThrow(expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option }) }));
    }
  });

  it("do not stand in any error", async () => {
    const inner = memoryStore();
    await encryptedStore(inner, { keys: [{ id: "k", key: key(1) }] }).create(startCommit("a", { input: "canary" }));
    const error = await encryptedStore(inner, { keys: [{ id: "k", key: key(2) }] })
      .load("a")
      .catch((cause: Error) => cause);
    expect(error).toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining('the key "k" is not the same as before') });
    expect(JSON.stringify(error)).not.toContain("canary");
  });
});

describe("what was encrypted", () => {
  it("never looks the same twice", async () => {
    const { store: inner, told } = recorded(memoryStore());
    const store = encryptedStore(inner, { keys: [old] });
    let last: Commit = startCommit("a", { input: "same" });
    await store.create(last);
    for (let count = 0; count < 50; count++) {
      last = stepCommit(last, { output: "same" });
      await store.commit(last);
    }
    const texts = told.flatMap((text) => text.match(/"data\\*":\\*"[^"\\]+/g) ?? []);
    expect(texts.length).toBeGreaterThan(50);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("is refused if it was changed", async () => {
    const inner = memoryStore();
    await encryptedStore(inner, { keys: [old] }).create(startCommit("a", { input: "x", metadata: { m: 1 } }));
    const store = encryptedStore(
      altered(inner, (text) => text.replace(data, '"data":"AAAA')),
      { keys: [old] },
    );
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining('execution "a" cannot be decrypted') };
    await expect(store.load("a")).rejects.toMatchObject(refused);
    await expect(store.events("a", -1, 10)).rejects.toMatchObject(refused);
  });

  it("is refused in another execution, or another one of the same id", async () => {
    const inner = memoryStore();
    const store = encryptedStore(inner, { keys: [old] });
    const [a, b] = [startCommit("a", { input: "of a" }), startCommit("b", { input: "of b" })];
    await store.create(a);
    await store.create(b);
    const [ofA, ofB] = [await inner.load("a"), await inner.load("b")];
    for (const forged of [
      { ...ofA!, input: ofB!.input! },
      { ...ofA!, metadata: ofB!.metadata },
      { ...ofA!, incarnation: "another" },
    ]) {
      const reading = encryptedStore({ ...inner, load: async () => forged }, { keys: [old] });
      await expect(reading.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED" });
    }
  });

  it("does not keep others from being claimed or listed if it is damaged", async () => {
    const inner = memoryStore();
    const writing = encryptedStore(inner, { keys: [old] });
    for (const id of ["good-1", "bad", "good-2"]) await writing.create(startCommit(id, { input: id, metadata: { id } }));
    const damaged = (text: string): string => {
      const of = (one: string): string => (one.includes('"workflowId":"bad"') ? one.replace(data, '"data":"AAAA') : one);
      return text
        .split(/(?=\{"workflowId":"[^"]*","incarnation":"[^"]*","definition":[^}]*\},"status")/)
        .map(of)
        .join("");
    };
    const store = encryptedStore(altered(inner, damaged), { keys: [old] });
    expect((await store.list()).items.map(({ workflowId }) => workflowId)).toEqual(["good-2", "good-1"]);
    const claimed = await store.claim({ owner: "w", leaseMs: 1000, limit: 10 });
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(["good-1", "bad", "good-2"]);
    const settled = await Promise.allSettled(claimed.map(({ workflowId }) => store.load(workflowId)));
    expect(settled).toMatchObject([
      { value: { input: "good-1" } },
      { reason: expect.objectContaining({ code: "STORE_REJECTED" }) },
      { value: { input: "good-2" } },
    ]);
  });

  it("does not look like an empty store to a worker that lacks the key", async () => {
    const inner = memoryStore();
    await encryptedStore(inner, { keys: [old] }).create(startCommit("a", { metadata: { m: 1 } }));
    const store = encryptedStore(inner, { keys: [fresh] });
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining('"2025"') };
    await expect(store.list()).rejects.toMatchObject(refused);
    expect(await store.claim({ owner: "w", leaseMs: 1000, limit: 10 })).toMatchObject([{ workflowId: "a" }]);
    await expect(store.load("a")).rejects.toMatchObject(refused);
  });
});

describe("metadata", () => {
  it("is found by equal values with a search key", async () => {
    const store = encryptedStore(memoryStore(), { keys: [fresh], searchKey });
    for (const [id, metadata] of Object.entries<Readonly<Record<string, Json>>>({
      a: { team: "red", n: 1 },
      b: { team: "red", n: "1" },
      c: { team: "blue" },
      d: {},
    })) {
      await store.create(startCommit(id, { metadata }));
    }
    const found = async (metadata: Record<string, string | number>) =>
      (await store.list({ metadata })).items.map(({ workflowId }) => workflowId);
    expect(await found({ team: "red" })).toEqual(["b", "a"]);
    expect(await found({ team: "red", n: 1 })).toEqual(["a"]);
    expect(await found({ team: "green" })).toEqual([]);
    expect(await found({})).toEqual(["d", "c", "b", "a"]);
  });

  it.each([true, false])("is found by bounds, which are compared after decryption, with a search key: %s", async (isGiven) => {
    const store = encryptedStore(memoryStore(), { keys: [fresh], ...(isGiven && { searchKey }) });
    for (let n = 0; n < 30; n++) await store.create(startCommit(`id-${n}`, { metadata: { n, team: n % 2 ? "red" : "blue" } }));
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const page = await store.list({ metadata: { n: { gte: 1, lt: 3 } }, limit: 1, ...(cursor && { cursor }) });
      found.push(...page.items.map(({ workflowId }) => workflowId));
      cursor = page.nextCursor;
    }
    // one call looks at a bounded number of executions
    expect([found, pages]).toEqual([["id-2", "id-1"], 4]);
    expect((await store.count!({ metadata: { n: { gt: 10 } } })).counts).toMatchObject({ active: 19 });
    if (!isGiven) return;
    expect((await store.list({ metadata: { n: { gt: 26 }, team: "red" } })).items.map(({ workflowId }) => workflowId)).toEqual([
      "id-29",
      "id-27",
    ]);
    expect((await store.count!({ metadata: { n: { gt: 26 }, team: "red" } })).counts).toMatchObject({ active: 2 });
  });

  it("is not searched without one, and says what to do", async () => {
    const store = encryptedStore(memoryStore(), { keys: [fresh] });
    const refused = { code: "OPTION_INVALID", message: expect.stringContaining("Pass searchKey to encryptedStore") };
    await expect(store.list({ metadata: { team: "red" } })).rejects.toMatchObject(refused);
    expect(await store.list({ metadata: {} })).toEqual({ items: [], nextCursor: null });
  });
});
