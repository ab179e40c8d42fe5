import { describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import type { Event } from "../../../core/snapshot/event.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { memoryStore } from "../../databases/memory/index.ts";
import { encryptedStore } from "./index.ts";

const keys = [{ id: "k", key: new Uint8Array(32).fill(1) }];
const first = startCommit("a", { input: { card: 1 }, metadata: { team: "red" } });
const error = { name: "Error", message: "no", nodeId: "step" };
const task = { pathId: "0", nodeId: "step", attempt: 1, at: 5, turn: 1, startedAt: 4 };
const second = stepCommit(first, { event: (version) => ({ ...task, version, type: "failed", error, retryAt: null, handle: "error" }) });
const third = stepCommit(second, { nodeId: "later", output: "done" });

/** An encrypted store with one execution, and its inner store. */
async function encrypted() {
  const inner = memoryStore();
  const store = encryptedStore(inner, { keys });
  await store.create(first);
  await store.commit(second);
  await store.commit(third);
  return { inner, store };
}

/** An encrypted store over an inner store in which some methods return forged data. */
function reading(inner: SnapshotStore, forged: Partial<SnapshotStore>, plain?: "accept"): SnapshotStore {
  return encryptedStore({ ...inner, ...forged }, { keys, ...(plain && { plain }) });
}

const refused = { code: "STORE_REJECTED", message: expect.stringContaining('pass plain: "accept"') };

describe("what is stored in plain (F10)", () => {
  it("is refused wherever a value of a snapshot may be, and read if that is asked for", async () => {
    const { inner, store } = await encrypted();
    expect(await store.load("a")).toEqual(snapshotAfter(first, second, third));
    const stored = (await inner.load("a"))!;
    const later = stored.context.later!;
    const forgeries: Partial<Snapshot>[] = [
      { input: { card: 2 } },
      { metadata: { team: "blue" } },
      { output: "forged" },
      { output: { "~stepfold/encrypted": 1, json: '"forged"' } },
      { error: { name: "Error", message: "forged" } },
      { context: { ...stored.context, later: [{ ...later[0]!, output: { approved: true } }] } },
      { permit: { key: "forged", limit: 1 } },
      { mapItems: { "0#1": ["forged"] } },
    ];
    for (const forgery of forgeries) {
      const load = async () => ({ ...stored, ...forgery });
      await expect(reading(inner, { load }).load("a"), JSON.stringify(forgery)).rejects.toMatchObject(refused);
      expect(await reading(inner, { load }, "accept").load("a")).toMatchObject({ workflowId: "a" });
    }
  });

  it("names the field, and not what is in it", async () => {
    const { inner } = await encrypted();
    const load = async () => ({ ...(await inner.load("a"))!, input: "canary" });
    const told: unknown = await reading(inner, { load })
      .load("a")
      .catch((cause: unknown) => cause);
    expect(told).toMatchObject({ message: expect.stringContaining('execution "a" holds "input" in plain text') });
    expect(JSON.stringify(told)).not.toContain("canary");
  });

  it("is refused in events, in lists and in a head", async () => {
    const inner = memoryStore();
    await inner.create(first);
    const store = encryptedStore(inner, { keys });
    await expect(store.events("a", -1, 10)).rejects.toMatchObject(refused);
    await expect(store.list()).rejects.toMatchObject(refused);
    await expect(store.loadHead("a")).rejects.toMatchObject(refused);
    const before = encryptedStore(inner, { keys, plain: "accept" });
    expect((await before.events("a", -1, 10)).map(({ event }) => event)).toEqual(first.events);
    expect((await before.list()).items).toMatchObject([{ metadata: { team: "red" } }]);
  });

  it("is refused in an event that answers for a person", async () => {
    const { inner } = await encrypted();
    const answer: Event = { version: 3, at: 5, type: "resumed", pathId: "0", waitId: "0@1", by: "payload", payload: { approved: true } };
    const events: SnapshotStore["events"] = async (...asked) => (await inner.events(...asked)).map((row) => ({ ...row, event: answer }));
    await expect(reading(inner, { events }).events("a", 0, 1)).rejects.toMatchObject(refused);
  });

  it("is refused as a definition, until the workflow is put again", async () => {
    const inner = memoryStore();
    const definition: WorkflowDefinition = { id: "order", nodes: [{ id: "a", type: "noop" }], edges: [] };
    await inner.putDefinition("h", definition);
    const store = encryptedStore(inner, { keys });
    await expect(store.getDefinition("h")).rejects.toMatchObject(refused);
    expect(await encryptedStore(inner, { keys, plain: "accept" }).getDefinition("h")).toEqual(definition);
    await store.putDefinition("h", definition);
    expect(await store.getDefinition("h")).toEqual(definition);
  });

  it("is read or refused, nothing else", () => {
    const options = { keys, plain: "reject" } as unknown as Parameters<typeof encryptedStore>[1];
    expect(() => encryptedStore(memoryStore(), options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
