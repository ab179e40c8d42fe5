import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../../src/core/explain/waits.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { compressedStore } from "../../../src/stores/wrappers/compressed/compressed-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const document = { text: "word ".repeat(40_000) };
const steps = 500;
const nodes = {
  ...builtinNodes,
  ask: defineNode({ executor: (_data, step) => (step.resumed ? { data: step.resumed.suspendPayload } : step.suspend(document)) }),
  count: defineNode({
    handles: ["again", "done"],
    executor: (round: number) => ({ data: { round }, nextHandle: round < steps ? "again" : "done" }),
  }),
  pick: defineNode({ executor: (_data, step) => ({ data: (step.input as { text: string }).text.length }) }),
};
const beside = {
  id: "beside",
  nodes: [
    { id: "start", type: "noop" },
    { id: "ask", type: "ask" },
    { id: "count", type: "count", data: "{{ (nodes.count.last?.data.round ?? 0) + 1 }}", keep: 1 },
  ],
  edges: [
    { source: "start", target: "ask" },
    { source: "start", target: "count" },
    { source: "count", target: "count", sourceHandle: "again" },
  ],
};
const device = {
  id: "device",
  nodes: ["a", "b", "c", "d"].map((id) => ({ id, type: "pick" })),
  edges: [
    ["a", "b"],
    ["b", "c"],
    ["c", "d"],
  ].map(([source, target]) => ({ source, target })),
};
const mapped = {
  id: "mapped",
  nodes: [{ id: "m", type: "map", data: { workflow: "device", items: "{{ input }}" } }],
  edges: [],
  workflows: { device },
};

/** A store that counts the bytes of JSON in its commits. */
function counting(inner: SnapshotStore) {
  let bytes = 0;
  const count = (commit: Commit): Commit => {
    // metadata and input are written with the first commit only
    const { metadata: _, input: __, definition: ___, ...head } = commit.head;
    bytes += JSON.stringify([head, commit.events, commit.children ?? [], commit.checkpoint ?? null]).length;
    return commit;
  };
  const store: SnapshotStore = {
    ...inner,
    create: (commit, options) => inner.create(count(commit), options),
    commit: (commit) => inner.commit(count(commit)),
  };
  return { store, bytes: () => bytes };
}

function living(wrap: (store: SnapshotStore) => SnapshotStore = (store) => store) {
  const environment = virtualEnvironment();
  const counted = counting(memoryStore({ now: () => environment.now() }));
  const { runtime } = setUp(
    { store: wrap(counted.store), nodeDefinitions: nodes as never, workflows: [beside, mapped] as never },
    environment,
  );
  return { ...counted, environment, runtime };
}

describe("a large value", () => {
  it("that a path waits with is written once, whatever happens beside it", async () => {
    const { runtime, environment, bytes, store } = living();
    const run = await runtime.start("beside", { workflowId: "b" });
    for (let turn = 0; turn < 20; turn++) await environment.advance(100);
    expect((await run.snapshot()).context.count?.at(-1)?.output).toEqual({ round: steps });
    expect(bytes()).toBeLessThan(1_000_000);
    expect(waits(await run.snapshot())[0]?.payload).toEqual(document);
    expect(waits((await store.loadHead("b")) as never)[0]?.payload).toEqual(document);
    await run.resume({ payload: null });
    await environment.settle();
    expect(await run.result()).toEqual(document);
  });

  it("is whole again for whoever reads it through a wrapper", async () => {
    const { runtime, environment, bytes } = living((inner) => compressedStore(inner, { aboveBytes: 1e9 }));
    const run = await runtime.start("beside", { workflowId: "b" });
    for (let turn = 0; turn < 20; turn++) await environment.advance(100);
    expect(bytes()).toBeLessThan(1_000_000);
    const [wait] = await run.waits();
    expect(wait?.payload).toEqual(document);
    await run.resume({ payload: document });
    expect(await run.result()).toEqual(document);
  });

  it("that an item of a map is, is not written with its steps", async () => {
    const { runtime, environment, bytes } = living();
    const run = await runtime.start("mapped", { workflowId: "m", input: [document, { text: "short" }] });
    await environment.settle();
    expect(await run.result()).toEqual([200_000, 5]);
    // the value is written twice: in the input, and in the event that begins the map
    expect(bytes()).toBeLessThan(450_000);
  });
});
