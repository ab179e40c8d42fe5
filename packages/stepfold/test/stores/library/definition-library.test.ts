import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { sha256 } from "../../../src/core/values/hash/sha256.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { MemoryTable } from "../../../src/stores/databases/memory/memory-table.ts";
import type { RecordKind, RecordWrite } from "../../../src/stores/kit/record-table.ts";
import { storeOver } from "../../../src/stores/kit/store-over.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/index.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";

const definitionOf = (id: string) => ({ id, nodes: [], edges: [] });
const errorOf = (cause: unknown): StepfoldError => new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: String(cause) });
const hashesOf = async (store: SnapshotStore, id?: string) =>
  (await store.listDefinitions!({ ...(id !== undefined && { id }), limit: 4_000 })).map(({ hash }) => hash);

/** Makes a store that counts its writes, and whose process ends before a write that the test chooses. */
function library() {
  let now = 0;
  let endsBefore: ((kind: RecordKind, write: RecordWrite) => boolean) | null = null;
  let writes = 0;
  const table = new MemoryTable(() => ++now);
  const { put } = table.records;
  Object.assign(table.records, {
    put: async (kind: RecordKind, some: readonly RecordWrite[]) => {
      writes += some.length;
      if (endsBefore && some.some((write) => endsBefore!(kind, write))) throw new Error("the process ended");
      return put(kind, some);
    },
  });
  return {
    store: storeOver(table, { errorOf }),
    records: table.records,
    writes: () => writes,
    endBefore: (which: typeof endsBefore) => {
      endsBefore = which;
    },
  };
}

describe("the list of definitions", () => {
  it.each([
    ["the definition is written into the list", (kind: RecordKind) => kind === "library", []],
    ["it is marked as listed", (kind: RecordKind, { expected }: RecordWrite) => kind === "definition" && expected !== null, ["h1"]],
  ] as const)("has what was put after a process ended before %s, when it is put again", async (_, which, listed) => {
    const { store, endBefore } = library();
    endBefore(which);
    await expect(store.putDefinition("h1", definitionOf("order"))).rejects.toThrow("the process ended");
    expect(await store.getDefinition("h1")).toEqual(definitionOf("order"));
    expect(await hashesOf(store)).toEqual(listed);
    endBefore(null);
    await store.putDefinition("h1", definitionOf("order"));
    expect(await hashesOf(store)).toEqual(["h1"]);
  });

  it("has definitions that were kept before stores listed them, once they are put again", async () => {
    const { store, records } = library();
    await records.put("definition", [{ key: "h1", expected: null, next: { revision: "1", text: JSON.stringify(definitionOf("order")) } }]);
    expect(await hashesOf(store)).toEqual([]);
    await store.putDefinition("h1", definitionOf("order"));
    expect(await hashesOf(store)).toEqual(["h1"]);
  });

  it("costs no write when a definition is put that is listed", async () => {
    const { store, writes } = library();
    await store.putDefinition("h1", definitionOf("order"));
    const before = writes();
    for (let count = 0; count < 5; count++) await store.putDefinition("h1", definitionOf("order"));
    expect([before, writes()]).toEqual([3, 3]);
  });

  it("keeps the last 50 versions of a workflow that changes often, and every other workflow", async () => {
    const { store, records } = library();
    await store.putDefinition("first", definitionOf("other"));
    for (let count = 0; count < 120; count++) await store.putDefinition(`h${count}`, definitionOf("order"));
    expect(await hashesOf(store, "order")).toEqual(Array.from({ length: 50 }, (_, index) => `h${119 - index}`));
    expect(await hashesOf(store, "other")).toEqual(["first"]);
    expect(await store.getDefinition("h0")).toEqual(definitionOf("order"));
    const part = sha256("order")[0]!;
    expect((await records.get("library", [part])).get(part)!.text.length).toBeLessThan(10_000);
  });

  it("is written once for all that are put at once, and never keeps a definition from being put", async () => {
    const { store, records, writes } = library();
    await Promise.all(Array.from({ length: 300 }, (_, index) => store.putDefinition(`h${index}`, definitionOf("order"))));
    // each definition is put and marked as listed; the list itself is written a few times
    expect(writes()).toBeLessThanOrEqual(300 * 2 + 5);
    expect(await hashesOf(store)).toHaveLength(50);
    // other writers always change the list first
    const { put } = records;
    records.put = async (kind, some) => (kind === "library" ? some.map(() => false) : put(kind, some));
    await store.putDefinition("later", definitionOf("order"));
    expect(await store.getDefinition("later")).toEqual(definitionOf("order"));
    expect(await hashesOf(store)).not.toContain("later");
    records.put = put;
    await store.putDefinition("later", definitionOf("order"));
    expect((await hashesOf(store))[0]).toBe("later");
  });

  it("is bounded, and leaves out old versions before it leaves out workflows", async () => {
    const { store, writes } = library();
    // all ids belong to the same part of the list
    const ids = Array.from({ length: 6_000 }, (_, index) => `order-${index}`).filter((id) => sha256(id)[0] === "a");
    for (const id of ids.slice(0, 240)) {
      await store.putDefinition(`old ${id}`, definitionOf(id));
      await store.putDefinition(`new ${id}`, definitionOf(id));
    }
    const listed = await hashesOf(store);
    expect(listed).toHaveLength(250);
    expect(listed.filter((hash) => hash.startsWith("new "))).toHaveLength(240);
    for (const id of ids.slice(240, 260)) await store.putDefinition(`new ${id}`, definitionOf(id));
    expect((await hashesOf(store)).filter((hash) => hash === `new ${ids[259]}` || hash === `new ${ids[0]}`)).toEqual([`new ${ids[259]}`]);
    expect(writes()).toBe(500 * 3);
  });

  it("passes over what somebody has damaged, and can be written again", async () => {
    const { store, records } = library();
    await store.putDefinition("h1", definitionOf("order"));
    await store.label!("order", "h1", null);
    const part = sha256("order")[0]!;
    const damage = async (kind: RecordKind, key: string, text: string): Promise<void> => {
      const { revision } = (await records.get(kind, [key])).get(key)!;
      await records.put(kind, [{ key, expected: revision, next: { revision: crypto.randomUUID(), text } }]);
    };
    const entry = { id: "order", hash: "h1", putAt: 1 };
    for (const text of ["{", "7", "null", `[null, 7, {"id": 7}, ${JSON.stringify(entry)}, {"id": "order", "hash": "h2"}]`]) {
      await damage("library", part, text);
      expect(await store.listDefinitions!(), text).toEqual(text.startsWith("[") ? [entry] : []);
    }
    await damage("library", part, "{");
    await store.putDefinition("h3", definitionOf("order"));
    expect(await hashesOf(store)).toEqual(["h3"]);
    for (const text of ["{", "7", "null", '{"hash": 7}']) {
      await damage("label", sha256("order"), text);
      expect(await store.labels!(["order"]), text).toEqual(new Map());
    }
    await store.label!("order", "h3", null);
    expect(await store.labels!(["order"])).toEqual(new Map([["order", "h3"]]));
  });

  it("does not refuse a definition whose names are too long for it", async () => {
    const { store } = library();
    await store.putDefinition("h1", definitionOf("x".repeat(256)));
    expect(await store.getDefinition("h1")).toEqual(definitionOf("x".repeat(256)));
    expect(await hashesOf(store)).toEqual([]);
  });
});

describe("the list of definitions of an encrypted store", () => {
  const key = (id: string) => ({ id, key: crypto.getRandomValues(new Uint8Array(32)) });

  it("shows the hashes that were put, each once, whichever keys they were encrypted with", async () => {
    const inner = memoryStore();
    const [first, second] = [key("1"), key("2")];
    const before = encryptedStore(inner, { keys: [first] });
    await before.putDefinition("h1", definitionOf("order"));
    const after = encryptedStore(inner, { keys: [second, first] });
    await after.putDefinition("h1", definitionOf("order"));
    await after.putDefinition("h2", definitionOf("other"));
    for (const store of [before, after]) {
      expect((await hashesOf(store)).toSorted()).toEqual(["h1", "h2"]);
    }
    for (const { id, hash } of await after.listDefinitions!()) expect((await after.getDefinition(hash))?.id).toBe(id);
    expect(await inner.getDefinition("h1")).toBeNull();
  });

  it("is also right over a store that is encrypted itself, and over one with two tiers", async () => {
    const keys = [key("1")];
    const below = [encryptedStore(memoryStore(), { keys }), tieredStore({ hot: memoryStore(), cold: memoryStore() })];
    for (const inner of below) {
      const store = encryptedStore(inner, { keys: [key("2")] });
      await store.putDefinition("h1", definitionOf("order"));
      expect(await hashesOf(store)).toEqual(["h1"]);
      expect(await store.getDefinition("h1")).toEqual(definitionOf("order"));
    }
  });
});
