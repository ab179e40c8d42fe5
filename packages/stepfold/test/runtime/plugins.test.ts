import { afterEach, describe, expect, it } from "vitest";
import type { Event } from "../../src/core/snapshot/event.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { TaskInfo } from "../../src/engine/plugin.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { Commit } from "../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

describe("SUITES 2: a plugin of a runtime", () => {
  it("hears every event that is committed, in order", async () => {
    const told: string[] = [];
    const plugins = [{ onEvent: ({ type, version }: Event) => told.push(`${version} ${type}`) }];
    const { runtime, store, environment } = setUp({ plugins });
    const run = await runtime.start("talk");
    await environment.settle();
    await run.signal("nobody waits for it");
    await run.resume({ payload: { approved: true } });
    await run.result();
    const again = await runtime.start("talk");
    await environment.settle();
    const before = told.length;
    await again.cancel();
    const rows = await store.events(run.workflowId, -1, 100);
    expect(told.slice(0, rows.length)).toEqual(rows.map(({ version, event: { type } }) => `${version} ${type}`));
    expect(rows.map(({ event: { type } }) => type)).toEqual(expect.arrayContaining(["started", "signalled", "resumed"]));
    expect(told.slice(before)).toEqual([expect.stringMatching(/ cancelled$/)]);
  });
});

describe("a plugin of a runtime with steps in flight", () => {
  const items = { id: "item", nodes: [{ id: "work", type: "work" }], edges: [] };
  const mapping = {
    id: "mapping",
    nodes: [{ id: "each", type: "map", data: { workflow: "item", items: "{{ input }}", concurrency: 4 } }],
    edges: [],
    workflows: { item: items },
  };

  it.each([
    "fails for good",
    "is cancelled",
  ])("is told of them with their types, also when what they belong to %s meanwhile", async (how) => {
    const finish: (() => void)[] = [];
    const told: string[] = [];
    const tell = (hook: string) => (task: TaskInfo) => told.push(`${hook} ${task.type} ${task.scope}`);
    const plugin = {
      beforeNode: tell("begins"),
      afterNode: tell("ends"),
      onError: (_thrown: unknown, task: TaskInfo) => tell("throws")(task),
      onHeartbeat: (_progress: unknown, task: TaskInfo) => tell("beats")(task),
    };
    const work = defineNode({
      async executor(data, step) {
        if (step.input === 1 && how === "fails for good") throw new Error("no");
        await new Promise<void>((resolve) => finish.push(resolve));
        step.heartbeat();
        if (step.input === 2) throw new Error("late");
        return { data };
      },
    });
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    // the other steps end while the commit that ends them is under way
    const commit = async (made: Commit): Promise<void> => {
      await inner.commit(made);
      for (const end of finish.splice(0)) end();
      for (let turns = 0; turns < 20; turns++) await undefined;
    };
    const nodes = { ...builtinNodes, work };
    const logged: unknown[] = [];
    const logger = { info: () => undefined, warn: () => undefined, error: (message: string) => logged.push(message) };
    const { runtime } = setUp(
      { store: { ...inner, commit }, nodeDefinitions: nodes as never, workflows: [mapping] as never, plugins: [plugin], logger },
      environment,
    );
    const run = await runtime.start("mapping", { workflowId: "m", input: [0, 1, 2, 3] });
    await environment.settle();
    if (how === "is cancelled") await run.cancel();
    await environment.settle();
    expect((await run.snapshot()).status).toBe(how === "is cancelled" ? "cancelled" : "failed");
    expect(told.filter((line) => line.startsWith("begins work")).length).toBe(4);
    expect(told.filter((line) => !line.includes(" work ") && !line.includes(" map "))).toEqual([]);
    expect(told).toEqual(expect.arrayContaining(["ends work 0#1/0", "beats work 0#1/2", "throws work 0#1/2"]));
    expect(logged).toContainEqual(expect.stringContaining("late"));
  });
});
