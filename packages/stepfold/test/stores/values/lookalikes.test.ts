import { describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/index.ts";
import { compressedStore } from "../../../src/stores/wrappers/compressed/index.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/index.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { lookalikes, memoryBlobs } from "./values.fixture.ts";

const key = new Uint8Array(32).fill(7);
const wrappers: Readonly<Record<string, (inner: SnapshotStore) => SnapshotStore>> = {
  encrypted: (inner) => encryptedStore(inner, { keys: [{ id: "k", key }], plain: "accept" }),
  "compressed, nothing small enough to stay": (inner) => compressedStore(inner, { aboveBytes: 0 }),
  "compressed, nothing large enough": (inner) => compressedStore(inner, { aboveBytes: 10_000 }),
  "blobbed, nothing small enough to stay": (inner) => blobbedStore(inner, memoryBlobs(), { aboveBytes: 0 }),
  "blobbed, nothing large enough": (inner) => blobbedStore(inner, memoryBlobs()),
};
const marks = ["~stepfold/encrypted", "~stepfold/compressed", "~stepfold/blob"];

describe.each(Object.entries(wrappers))("a store that wraps another (%s)", (_, wrap) => {
  it("keeps values that look like its own", async () => {
    const store = wrap(memoryStore());
    for (const [index, value] of lookalikes.entries()) {
      const id = `id-${index}`;
      const first = startCommit(id, { input: value, metadata: { value, list: [value] } });
      const error = { name: String(value), message: typeof value === "string" ? value : JSON.stringify(value) };
      const task = { pathId: "0", nodeId: "step", attempt: 1, at: 5, turn: 1, startedAt: 4 };
      const second = stepCommit(first, { output: value });
      const third = stepCommit(second, {
        event: (version) => ({ ...task, version, type: "failed", error, retryAt: null, handle: "error" }),
      });
      await store.create(first);
      await store.commit(second);
      await store.commit(third);
      expect(await store.load(id)).toEqual(snapshotAfter(first, second, third));
      expect((await store.events(id, -1, 9)).map(({ event }) => event)).toEqual([first, second, third].flatMap(({ events }) => events));
    }
    expect((await store.list()).items.map(({ metadata }) => metadata.value)).toEqual([...lookalikes].reverse());
  });

  it("takes ids and names for what they are", async () => {
    const store = wrap(memoryStore());
    for (const name of ["message", "error", "json", ...marks, ...marks.map((mark) => `${mark}:{}`)]) {
      const first = startCommit(name, { definitionId: name, metadata: { [name]: name } });
      const rounds = { [name]: { got: [name] } };
      const path = { ...first.head.activePaths[0]!, waves: { [name]: name }, stepPath: [name], via: name };
      const second = stepCommit(first, { nodeId: name, output: name, head: { rounds, activePaths: [path] } });
      await store.create(first);
      await store.commit(second);
      expect(await store.load(name)).toEqual(snapshotAfter(first, second));
    }
  });

  it("keeps definitions, also those that look like its own", async () => {
    const store = wrap(memoryStore());
    const plain: WorkflowDefinition = { id: "order", nodes: [{ id: "a", type: "noop", data: "x".repeat(2000) }], edges: [] };
    const definitions = [plain, ...marks.map((mark) => ({ ...plain, nodes: [], metadata: { [mark]: 1, json: "1" } }))];
    for (const [index, definition] of definitions.entries()) await store.putDefinition(`hash-${index}`, definition);
    for (const [index, definition] of definitions.entries()) expect(await store.getDefinition(`hash-${index}`)).toEqual(definition);
  });

  it("reads what was stored before it was put around", async () => {
    const inner = memoryStore();
    const first = startCommit("a", { input: { plain: true }, metadata: { team: "red" } });
    await inner.create(first);
    await inner.putDefinition("h", { id: "order", nodes: [], edges: [] });
    const store = wrap(inner);
    const second = stepCommit(first, { output: "later" });
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect((await store.list()).items[0]!.metadata).toEqual({ team: "red" });
    expect(await store.getDefinition("h")).toEqual({ id: "order", nodes: [], edges: [] });
  });
});
