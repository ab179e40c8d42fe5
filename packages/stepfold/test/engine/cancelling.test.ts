import { describe, expect, it } from "vitest";
import { waits } from "../../src/core/explain/waits.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { CancelCommand } from "../../src/engine/commands/cancel-paths.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { HeldSteps, workflow } from "./cancelling.fixture.ts";
import { viaJson } from "./engine.fixture.ts";
import { settled, VirtualEnvironment } from "./virtual-environment.fixture.ts";

type Definition = ReturnType<typeof workflow>;

function engineOf(definition: Definition, steps: HeldSteps): WorkflowEngine<Record<string, NodeDefinition>> {
  const nodeDefinitions: Record<string, NodeDefinition> = {
    ...(builtinNodes as unknown as Record<string, NodeDefinition>),
    slow: { executor: steps.executor },
  };
  return new WorkflowEngine({ workflow: definition, nodeDefinitions, environment: new VirtualEnvironment() });
}

const given = ({ context }: Snapshot): Record<string, (Json | null)[]> =>
  Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]));

/** A case in which the graph itself ends steps that are under way. */
interface Ending {
  readonly title: string;
  readonly definition: Definition;
  /** The step that completes or, with `fails`, the step that fails. */
  readonly finishes?: string;
  readonly fails?: string;
  /** The steps whose `AbortSignal` fires, and the steps that go on. */
  readonly aborted: readonly string[];
  readonly goOn: readonly string[];
  readonly status: Snapshot["status"];
  /** The outputs of each node at the end. */
  readonly gives: Readonly<Record<string, unknown>>;
}

const forked = { f: "noop", a: "slow", b: "slow", c: "slow" } as const;
const fork = ["f>a", "f>b", "f>c"];
const item = workflow("item", { work: "slow" });
const mapOf = (more: object) => ({ type: "map", data: { workflow: "item", items: ["x", "y", "z"], ...more } });
const mapped = (more: object): Definition =>
  workflow("w", { f: "noop", list: mapOf(more), a: "slow", next: "noop" }, ["f>list", "f>a", "list>next"], { workflows: { item } });

const endings: readonly Ending[] = [
  {
    title: "a node that cancels others ends their paths, and no others",
    definition: workflow("w", { ...forked, a: { type: "slow", cancels: ["b"] } }, fork),
    finishes: "a",
    aborted: ["b"],
    goOn: ["c"],
    status: "completed",
    gives: { f: [null], a: ["a done"], c: ["c done"] },
  },
  {
    title: "a node that fails cancels nothing, though it would have",
    definition: workflow("w", { ...forked, a: { type: "slow", cancels: ["b"] }, after: "noop" }, [...fork, "a>after@error"]),
    fails: "a",
    aborted: [],
    goOn: ["b", "c"],
    status: "completed",
    gives: {
      f: [null],
      a: [expect.objectContaining({ message: "a failed" })],
      b: ["b done"],
      c: ["c done"],
      after: [expect.objectContaining({ message: "a failed" })],
    },
  },
  {
    title: "a cancelled sub-workflow takes its steps along",
    definition: workflow(
      "w",
      {
        f: "noop",
        a: { type: "slow", cancels: ["sub"] },
        sub: { type: "workflow", data: { workflow: "item", input: "inner" } },
        c: "slow",
      },
      ["f>a", "f>sub", "f>c"],
      { workflows: { item } },
    ),
    finishes: "a",
    aborted: ["work:inner"],
    goOn: ["c"],
    status: "completed",
    gives: { f: [null], a: ["a done"], c: ["c done"] },
  },
  {
    title: "a join that needs no more branches ends the late ones, and nothing beside them",
    definition: workflow("w", { ...forked, j: { type: "noop", join: 1, late: "cancel" } }, [...fork, "a>j", "b>j"]),
    finishes: "b",
    aborted: ["a"],
    goOn: ["c"],
    status: "completed",
    gives: { f: [null], b: ["b done"], j: ["b done"], c: ["c done"] },
  },
  {
    title: "an end that terminates ends everything else",
    definition: workflow("w", { ...forked, stop: { type: "end", data: { output: "enough", terminate: true } } }, [...fork, "a>stop"]),
    finishes: "a",
    aborted: ["b", "c"],
    goOn: [],
    status: "completed",
    gives: { f: [null], a: ["a done"], stop: ["enough"] },
  },
  {
    title: "a failure ends everything else",
    definition: workflow("w", forked, fork),
    fails: "b",
    aborted: ["a", "c"],
    goOn: [],
    status: "failed",
    gives: { f: [null], b: [null] },
  },
  {
    title: "a failure lets the others finish where the workflow says so",
    definition: workflow("w", forked, fork, { onFailure: "finish" }),
    fails: "b",
    aborted: [],
    goOn: ["a", "c"],
    status: "failed",
    gives: { f: [null], a: ["a done"], b: [null], c: ["c done"] },
  },
  {
    title: "a map that has enough ends its other items, and nothing beside it",
    definition: mapped({ completeWhen: 1 }),
    finishes: "work:y",
    aborted: ["work:x", "work:z"],
    goOn: ["a"],
    status: "completed",
    gives: { f: [null], list: [[null, "work:y done", null]], next: [[null, "work:y done", null]], a: ["a done"] },
  },
  {
    title: "a map that has enough lets its other items finish where it says so",
    definition: mapped({ completeWhen: 1, remaining: "finish" }),
    finishes: "work:y",
    aborted: [],
    goOn: ["work:x", "work:z", "a"],
    status: "completed",
    gives: { f: [null], list: [[null, "work:y done", null]], next: [[null, "work:y done", null]], a: ["a done"] },
  },
  {
    title: "a map whose item fails ends the other items, and an edge for errors keeps the rest going",
    definition: workflow("w", { f: "noop", list: mapOf({}), a: "slow", next: "noop" }, ["f>list", "f>a", "list>next@error"], {
      workflows: { item },
    }),
    fails: "work:x",
    aborted: ["work:y", "work:z"],
    goOn: ["a"],
    status: "completed",
    gives: {
      f: [null],
      list: [expect.objectContaining({ code: "MAP_FAILED" })],
      next: [expect.objectContaining({ code: "MAP_FAILED" })],
      a: ["a done"],
    },
  },
];

describe("steps under way", () => {
  it.each(endings)("$title", async ({ definition, finishes, fails, aborted, goOn, status, gives }) => {
    const steps = new HeldSteps();
    const running = engineOf(definition, steps).execute({});
    await settled();
    if (finishes !== undefined) steps.finish(finishes);
    if (fails !== undefined) steps.fail(fails);
    await settled();
    expect(steps.aborted.toSorted()).toEqual(aborted);
    for (const name of aborted) steps.finish(name, "too late");
    await settled();
    for (const name of goOn) steps.finish(name);
    const snapshot = await running;
    expect(snapshot.status).toBe(status);
    expect(given(snapshot)).toEqual(gives);
    expect(snapshot.activePaths).toEqual([]);
    expect(snapshot).not.toHaveProperty("childStates");
    expect(steps.aborted.toSorted()).toEqual(aborted);
  });

  it("are all told when the call is ended, count for nothing, and are made again by the next one", async () => {
    const steps = new HeldSteps();
    const engine = engineOf(workflow("w", { ...forked, c: "noop" }, fork), steps);
    const controller = new AbortController();
    const running = engine.execute({ signal: controller.signal });
    await settled();
    controller.abort(new Error("the page was closed"));
    const snapshot = await running;
    expect(steps.aborted.toSorted()).toEqual(["a", "b"]);
    for (const name of ["a", "b"]) steps.finish(name, "too late");
    expect(given(snapshot)).toEqual({ f: [null], c: [null] });
    const again = engine.execute({ snapshot: viaJson(snapshot) });
    await settled();
    for (const name of steps.running.slice(2)) steps.finish(name, "again");
    expect(given(await again)).toEqual({ f: [null], a: ["again"], b: ["again"], c: [null] });
  });

  it("see that they are not wanted any more also if they ask for the signal only then", async () => {
    const steps = new HeldSteps();
    let aborted: boolean | null = null;
    let look = (): void => undefined;
    const late = {
      executor: async (_data: unknown, step: { readonly signal: AbortSignal }): Promise<{ data: null }> => {
        await new Promise<void>((resolve) => (look = resolve));
        aborted = step.signal.aborted;
        return { data: null };
      },
    };
    const definition = workflow("w", { f: "noop", a: { type: "slow", cancels: ["b"] }, b: "late" }, ["f>a", "f>b"]);
    const nodeDefinitions = { noop: builtinNodes.noop, slow: { executor: steps.executor }, late };
    const running = new WorkflowEngine({ workflow: definition, nodeDefinitions }).execute({});
    await settled();
    steps.finish("a");
    await running;
    look();
    await settled();
    expect(aborted).toBe(true);
  });
});

describe("a cancellation from outside", () => {
  const child = workflow("item", { approve: "approval" });
  const waiting = workflow(
    "w",
    {
      f: "noop",
      given: { type: "set", data: "given before" },
      ask: "approval",
      twice: "approval",
      list: mapOf({}),
      sub: { type: "workflow", data: { workflow: "item" } },
      after: { type: "noop", join: "all" },
    },
    ["f>given", "f>ask", "f>twice", "f>twice", "f>list", "f>sub", "given>after", "ask>after@approved", "sub>after"],
    { workflows: { item: child } },
  );
  const all = ["ask", "twice", "twice", "list[0]/approve", "list[1]/approve", "list[2]/approve", "sub/approve"];
  const without = (...gone: number[]): string[] => all.filter((_, i) => !gone.includes(i));

  it.each<[string, CancelCommand["target"], readonly string[]]>([
    ["of a node's one path", "ask", without(0)],
    ["of a node's paths, all of them", "twice", without(1, 2)],
    ["of one path of several, by its wait", { waitId: "0.3@2" }, without(2)],
    ["of a map, with all its items", "list", without(3, 4, 5)],
    ["of one item of a map", { node: "list", item: 1 }, without(4)],
    ["of one item of a map, by its text", "list[2]", without(5)],
    ["of a path in an item", "list[0]/approve", without(3)],
    ["of a sub-workflow", "sub", without(6)],
    ["of a path in a sub-workflow", "sub/approve", without(6)],
  ])("%s leaves everything else as it was", async (_, target, left) => {
    const engine = engineOf(waiting, new HeldSteps());
    const paused = await engine.execute({});
    expect(waits(paused).map(({ address }) => address)).toEqual(all);
    const cancelled = await engine.send(viaJson(paused), { type: "cancel", target });
    expect(waits(cancelled).map(({ address }) => address)).toEqual(left);
    const same = new Set(waits(cancelled).map(({ id }) => id));
    expect(waits(cancelled)).toEqual(waits(paused).filter(({ id }) => same.has(id)));
    expect(cancelled).toMatchObject({ status: "paused", version: paused.version + 1, context: paused.context });
    let snapshot: Snapshot = cancelled;
    for (const { id } of waits(cancelled)) snapshot = await engine.execute({ snapshot, target: id, externalPayload: { approved: true } });
    expect(snapshot).toMatchObject({ status: "completed", activePaths: [] });
    expect(snapshot.context.after).toHaveLength(1);
  });

  it("of the execution ends all of it, and keeps what was given", async () => {
    const engine = engineOf(waiting, new HeldSteps());
    const paused = await engine.execute({});
    const cancelled = await engine.send(paused, { type: "cancel", reason: "no longer needed" });
    expect(cancelled).toMatchObject({ status: "cancelled", activePaths: [], context: { given: [{ output: "given before" }] } });
    for (const key of ["childStates", "mapItems", "rounds", "retryState"]) expect(cancelled).not.toHaveProperty(key);
    expect(await engine.execute({ snapshot: viaJson(cancelled) })).toEqual(cancelled);
  });

  const cells = (items: Json) =>
    workflow("cells", { cells: { type: "map", data: { workflow: "item", items } } }, [], { workflows: { item: child } });
  const rows = workflow("rows", { rows: { type: "map", data: { workflow: "cells", items: [1, 2] } } }, [], {
    workflows: { cells: cells(["a", "b"]) },
  });
  const paused = async () => {
    const engine = engineOf(rows, new HeldSteps());
    return { engine, snapshot: await engine.execute({}) };
  };

  // The target fits both rows[0]/cells[1] and rows[1]/cells[1], so a cancellation is refused like a resume with the same target.
  it("of an item that may be one of several maps cancels none of them", async () => {
    const { engine, snapshot } = await paused();
    const target = { node: "cells", item: 1 };
    await expect(engine.send(snapshot, { type: "resume", target, payload: { approved: true } })).rejects.toMatchObject({
      code: "RESUME_AMBIGUOUS",
    });
    await expect(engine.send(snapshot, { type: "cancel", target })).rejects.toMatchObject({ code: "RESUME_AMBIGUOUS" });
  });

  // The address of an item, as waits and refusals write it, names the scope of the item and not a path.
  it("of an item of a map inside a map, by its address", async () => {
    const { engine, snapshot } = await paused();
    const cancelled = await engine.send(snapshot, { type: "cancel", target: "rows[1]/cells[0]" });
    expect(waits(cancelled).map(({ address }) => address)).toEqual([
      "rows[0]/cells[0]/approve",
      "rows[0]/cells[1]/approve",
      "rows[1]/cells[1]/approve",
    ]);
  });

  // An item that has not begun has no child yet, and can be cancelled all the same.
  it("of an item of a map that has not begun yet keeps it from running", async () => {
    const steps = new HeldSteps();
    const engine = engineOf(workflow("w", { list: mapOf({ concurrency: 1 }) }, [], { workflows: { item } }), steps);
    const begun = await engine.execute({ stepLimit: 1 });
    const snapshot = await engine.send(begun, { type: "cancel", target: { node: "list", item: 2 } });
    const running = engine.execute({ snapshot });
    for (const name of ["work:x", "work:y"]) {
      await settled();
      steps.finish(name);
    }
    expect((await running).output).toEqual(["work:x done", "work:y done", null]);
  });
});
