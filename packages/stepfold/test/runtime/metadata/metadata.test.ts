import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

type Filter = Readonly<Record<string, string | number | boolean>>;

const mark = defineNode({
  executor: (data, step) => {
    step.setMetadata({ stage: "marked", draft: null });
    step.setMetadata({ by: step.nodeId });
    return { data };
  },
});
const failing = defineNode({
  executor: (_data, step) => {
    step.setMetadata({ stage: "failed" });
    throw new Error("no");
  },
});
const wrong = defineNode({
  executor: (_data, step) => {
    step.setMetadata(["a"] as never);
    return { data: null };
  },
});

function setUpMetadata(more: Parameters<typeof setUp>[0] = {}) {
  const tell = { ...line("tell", "ask", "say"), output: "{{ metadata.stage }}" };
  const both = {
    id: "both",
    nodes: ["f", "a", "b"].map((id) => ({ id, type: id === "f" ? "say" : "mark" })),
    edges: ["a", "b"].map((target) => ({ source: "f", target })),
  };
  const workflows = [tell, both, line("marks", "mark", "ask"), line("fails", "failing"), line("wrong", "wrong")];
  return setUp({ workflows, nodeDefinitions: { ...nodeDefinitions, mark, failing, wrong }, ...more });
}

describe("metadata of an execution that is under way", () => {
  it("can be set: lists find it by that, expressions read it, and nothing goes on because of it", async () => {
    const { environment, runtime, store } = setUpMetadata();
    const run = await runtime.start("tell", { workflowId: "a", metadata: { stage: "new", draft: true, owner: "ada" } });
    await environment.advance(second);
    expect(await run.setMetadata({ stage: "late", draft: null, count: 3 })).toEqual({ applied: true });
    const metadata = { stage: "late", owner: "ada", count: 3 };
    expect(await run.snapshot()).toMatchObject({ status: "paused", metadata });
    const [now, before]: Filter[][] = [
      [{ stage: "late" }, { count: 3 }, { owner: "ada", stage: "late" }],
      [{ stage: "new" }, { draft: true }],
    ];
    for (const query of now!)
      expect((await store.list({ metadata: query })).items, JSON.stringify(query)).toMatchObject([{ workflowId: "a", metadata }]);
    for (const query of before!) expect((await store.list({ metadata: query })).items).toEqual([]);
    await run.resume({ payload: { approved: true } });
    await environment.advance(second);
    expect(await run.result()).toBe("late");
    const events = await store.events("a", -1, 100);
    expect(events.map(({ event }) => event.type)).toEqual(["started", "suspended", "metadataSet", "resumed", "completed", "completed"]);
  });

  it("is set once under a key, and to one thing only", async () => {
    const { environment, runtime } = setUpMetadata();
    const run = await runtime.start("tell");
    await environment.advance(second);
    const options = { idempotencyKey: "k" };
    expect(await run.setMetadata({ stage: "a", gone: null }, options)).toEqual({ applied: true });
    await run.setMetadata({ stage: "b" });
    expect(await run.setMetadata({ stage: "a", gone: null }, options)).toEqual({ applied: false });
    expect((await run.snapshot()).metadata).toEqual({ stage: "b" });
    await expect(run.setMetadata({ stage: "c" }, options)).rejects.toMatchObject({ code: "METADATA_CONFLICT" });
    // another kind of command has keys of its own
    expect(await run.resume({ payload: { approved: true }, idempotencyKey: "k" })).toEqual({ applied: true });
  });

  it("takes every change of many that come at once, in an order", async () => {
    const { environment, runtime, store } = setUpMetadata();
    const run = await runtime.start("tell", { workflowId: "a" });
    await environment.advance(second);
    await Promise.all(Array.from({ length: 20 }, (_, index) => run.setMetadata({ [`k${index}`]: index, last: index })));
    const { metadata, version } = await run.snapshot();
    expect(Object.keys(metadata)).toHaveLength(21);
    const [row] = await store.events("a", version - 1, 1);
    expect(row!.event).toMatchObject({ type: "metadataSet", metadata });
  });

  it("is refused once it has ended, and where it is no metadata; nothing is changed", async () => {
    const { environment, runtime } = setUpMetadata();
    const run = await runtime.start("tell", { metadata: { stage: "new" } });
    await environment.advance(second);
    const wrongs = [null, 7, ["a"], "x"] as never[];
    for (const patch of wrongs) await expect(run.setMetadata(patch)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(run.setMetadata({ big: 1n })).rejects.toMatchObject({ code: "VALUE_NOT_JSON" });
    await run.cancel();
    await expect(run.setMetadata({ stage: "late" })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    expect((await run.snapshot()).metadata).toEqual({ stage: "new" });
  });

  it("is set by steps, together with what they have done; of two the later event counts", async () => {
    const { environment, runtime, store } = setUpMetadata();
    const run = await runtime.start("marks", { workflowId: "a", metadata: { draft: true, kept: 1 } });
    await environment.advance(second);
    expect((await run.snapshot()).metadata).toEqual({ kept: 1, stage: "marked", by: "mark0" });
    expect((await store.list({ metadata: { stage: "marked" } })).items).toHaveLength(1);
    const both = await runtime.start("both", { workflowId: "b" });
    await environment.advance(second);
    const { metadata, context } = await both.snapshot();
    const [last] = Object.entries(context).sort(([, x], [, y]) => y[0]!.version - x[0]!.version)[0]!;
    expect(metadata).toEqual({ stage: "marked", by: last });
  });

  it("is not set by a step that fails, and a wrong patch fails the step", async () => {
    const { environment, runtime } = setUpMetadata();
    const [fails, refused] = [await runtime.start("fails"), await runtime.start("wrong")];
    await environment.advance(second);
    expect(await fails.snapshot()).toMatchObject({ status: "failed", metadata: {} });
    expect(await refused.snapshot()).toMatchObject({ status: "failed", metadata: {}, error: { code: "OPTION_INVALID" } });
  });

  it("is the same after a checkpoint, and a fork has it as it is now", async () => {
    const { environment, runtime } = setUpMetadata({ checkpointBytes: 1 });
    const run = await runtime.start("tell", { metadata: { stage: "first" } });
    await environment.advance(second);
    for (let index = 0; index < 30; index++) await run.setMetadata({ stage: `s${index}` });
    const { version, metadata } = await run.snapshot();
    expect([version, metadata]).toEqual([31, { stage: "s29" }]);
    const fork = await run.fork({ version: 5 });
    expect((await fork.snapshot()).metadata).toEqual({ stage: "s29" });
  });

  it("cannot be read in an encrypted store, and is found there", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const keys = [{ id: "k", key: new Uint8Array(32).fill(1) }];
    const store = encryptedStore(inner, { keys, searchKey: new Uint8Array(32).fill(2) });
    const workflows = [line("tell", "ask", "mark")];
    const { runtime } = setUp({ workflows, nodeDefinitions: { ...nodeDefinitions, mark }, store }, environment);
    const run = await runtime.start("tell", { workflowId: "a", metadata: { secret: "old" }, tenant: "t" });
    // encryption takes real time, so the test polls while it moves the virtual clock
    const reaches = (status: string): Promise<void> =>
      expect
        .poll(async () => {
          await environment.advance(second);
          return (await run.snapshot()).status;
        })
        .toBe(status);
    await reaches("paused");
    await run.setMetadata({ secret: "customer-7", other: null });
    expect((await store.list({ metadata: { secret: "customer-7" }, tenant: "t" })).items).toMatchObject([{ workflowId: "a" }]);
    expect((await store.list({ metadata: { secret: "old" } })).items).toEqual([]);
    await run.resume({ payload: { approved: true } });
    await reaches("completed");
    expect(await run.snapshot()).toMatchObject({ tenant: "t", metadata: { secret: "customer-7", stage: "marked" } });
    expect((await store.events("a", 1, 1))[0]!.event).toMatchObject({ type: "metadataSet", metadata: { secret: "customer-7" } });
    expect(JSON.stringify([await inner.load("a"), await inner.events("a", -1, 50), await inner.list()])).not.toContain("customer-7");
  });
});
