import { afterEach, expect, it } from "vitest";
import { runNumbers } from "../../../src/core/snapshot/parts/lineage.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { ExecutionInfo, Plugin } from "../../../src/engine/plugin.ts";
import { memoryFeed } from "../../../src/feeds/memory/memory-feed.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Notice } from "../../../src/ports/event-feed.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** In its first run it goes on, in its second run it fails until `isMended`. */
const twice = {
  id: "twice",
  nodes: [
    { id: "second", type: "if", data: { condition: "{{ input == 2 }}" } },
    { id: "again", type: "end", data: { continueAs: { input: 2 } } },
    { id: "act", type: "act" },
  ],
  edges: [
    { source: "second", target: "act", sourceHandle: "true" },
    { source: "second", target: "again", sourceHandle: "false" },
  ],
};

/** A runtime, what its plugin was told with the version and the numbers of each event, and what a feed has brought. */
async function watched() {
  let isMended = false;
  const told: unknown[] = [];
  const heard: Notice[] = [];
  const say = (hook: string, { version, type }: { version: number; type: string }, { workflowId: _, ...numbers }: ExecutionInfo): void =>
    void told.push([hook, version, type, numbers]);
  const plugin: Plugin = {
    onEvent: (event, execution) => say("event", event, execution),
    onContinued: (event, execution) => say("continued", event, execution),
    onRestarted: (event, execution) => say("restarted", event, execution),
  };
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const feed = memoryFeed();
  await feed.listen((notices) => heard.push(...notices), { onEnd: () => undefined });
  const act = defineNode({
    executor: () => {
      if (!isMended) throw new Error("not mended");
      return { data: null };
    },
  });
  const nodeDefinitions = { ...builtinNodes, act } as never;
  const parts = { store, feed, nodeDefinitions, workflows: [twice] as never, plugins: [plugin] };
  const { runtime } = setUp(parts, environment);
  const run = await runtime.start("twice", { workflowId: "t", input: 1 });
  await environment.settle();
  const mend = (): void => {
    isMended = true;
  };
  return { run, runtime, environment, store, parts, told, heard, mend };
}

it("tells plugins the run and the restarts with each event, and has hooks for both", async () => {
  const { run, environment, told, mend } = await watched();
  expect(told.splice(0)).toEqual([
    ["event", 0, "started", {}],
    ["event", 1, "completed", {}],
    ["event", 2, "continued", { run: 2 }],
    ["continued", 2, "continued", { run: 2 }],
    ["event", 3, "completed", { run: 2 }],
    ["event", 4, "failed", { run: 2 }],
  ]);
  mend();
  await run.restart();
  await environment.settle();
  expect(told).toEqual([
    ["event", 5, "restarted", { run: 2, restarts: 1 }],
    ["restarted", 5, "restarted", { run: 2, restarts: 1 }],
    ["event", 6, "completed", { run: 2, restarts: 1 }],
  ]);
});

it("calls the hook only in the process that has restarted the execution, and only after the commit", async () => {
  const { run, environment, store, parts } = await watched();
  const there: unknown[] = [];
  const plugins: Plugin[] = [{ onRestarted: async ({ version }) => there.push([version, (await store.loadHead("t"))?.version]) }];
  const { runtime } = setUp({ ...parts, plugins }, environment);
  await (await runtime.get("t")).restart();
  await environment.settle();
  expect(there).toEqual([[5, expect.any(Number)]]);
  expect(((there as number[][])[0]![1] as number) >= 5).toBe(true);
  await run.restart();
  await environment.settle();
  expect(there).toHaveLength(1);
});

it("tells a second end of an execution from a repeated message, in notices and in lists", async () => {
  const { run, runtime, environment, store, heard } = await watched();
  const listed = async (): Promise<unknown> =>
    (await runtime.list()).items.map(({ status, run: number, restarts }) => [status, number, restarts]);
  expect(await listed()).toEqual([["failed", 2, undefined]]);
  await run.restart();
  await environment.settle();
  expect(await listed()).toEqual([["failed", 2, 1]]);
  expect((await store.summaries!(["t"])).map(({ run: number, restarts }) => [number, restarts])).toEqual([[2, 1]]);
  // notices wait for some milliseconds after those before them
  await environment.advance(1_000);
  expect(heard.filter(({ kind }) => kind === "ended")).toEqual([
    { kind: "ended", workflowId: "t", version: 4, run: 2 },
    { kind: "ended", workflowId: "t", version: 6, run: 2, restarts: 1 },
  ]);
});

it("says nothing of runs and restarts of an execution that has neither", async () => {
  const { runtime, environment, told } = await watched();
  told.length = 0;
  await runtime.start("twice", { workflowId: "plain", input: 2 });
  await environment.settle();
  expect(told.at(-1)).toEqual(["event", 2, "failed", {}]);
  const [first] = (await runtime.list({ idPrefix: "plain" })).items;
  expect(first).not.toHaveProperty("run");
  expect(first).not.toHaveProperty("restarts");
});

it("numbers neither the first run nor restarts that have not happened", () => {
  expect(runNumbers({})).toEqual({});
  expect(runNumbers({ restarts: 0 })).toEqual({});
  expect(runNumbers({ run: { number: 3, since: 9, at: 0 }, restarts: 2 })).toEqual({ run: 3, restarts: 2 });
});

it("counts an event that was committed together with the beginning of the next run to the run before", () => {
  const run = { number: 3, since: 9, at: 0 };
  expect([8, 9, 10].map((version) => runNumbers({ run }, version))).toEqual([{ run: 2 }, { run: 3 }, { run: 3 }]);
  expect(runNumbers({ run: { number: 2, since: 4, at: 0 } }, 3)).toEqual({});
});
