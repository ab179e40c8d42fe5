import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { Plugin } from "../../src/engine/plugin.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { workflow } from "./cancelling.fixture.ts";
import { viaJson } from "./engine.fixture.ts";
import { VirtualEnvironment } from "./virtual-environment.fixture.ts";

const rounds = 10_000;
const kept = 3;

/** A node that counts the rounds and leaves by `again` until all rounds are done. */
const count = { type: "count", data: "{{ (nodes.count.last?.data.round ?? 0) + 1 }}", keep: kept };
const nodeDefinitions = {
  ...builtinNodes,
  count: defineNode({
    handles: ["again", "done"],
    executor: (round: number) => ({ data: { round, text: "x".repeat(100) }, nextHandle: round < rounds ? "again" : "done" }),
  }),
};
const noop = { type: "noop", keep: kept };

interface Loop {
  readonly what: string;
  readonly definition: ReturnType<typeof workflow>;
  /** The number of tasks in one round. */
  readonly tasks: number;
}

const loops: readonly Loop[] = [
  { what: "one node", definition: workflow("w", { count }, ["count>count@again"]), tasks: 1 },
  {
    what: "a fork and a join of all",
    definition: workflow(
      "w",
      { count, a: noop, b: noop, j: { ...noop, join: "all" } },
      ["count>a@again", "count>b@again", "a>j", "b>j", "j>count"],
      {
        start: "count",
      },
    ),
    tasks: 4,
  },
  {
    what: "a join that ignores the branch that comes late",
    definition: workflow(
      "w",
      { count, a: noop, b: noop, j: { ...noop, join: 1, late: "ignore" } },
      ["count>a@again", "count>b@again", "a>j", "b>j", "j>count"],
      { start: "count" },
    ),
    tasks: 4,
  },
  {
    what: "a branch that ends in every round, while the younger one goes on",
    definition: workflow("w", { count, aside: noop, on: noop }, ["count>aside@again", "count>on@again", "on>count"], { start: "count" }),
    tasks: 3,
  },
  {
    what: "a sub-workflow",
    definition: workflow(
      "w",
      { count, sub: { type: "workflow", data: { workflow: "inner" }, keep: kept } },
      ["count>sub@again", "sub>count"],
      {
        start: "count",
        workflows: { inner: workflow("inner", { step: "noop" }) },
      },
    ),
    tasks: 3,
  },
];

interface Names {
  readonly plugin: Plugin;
  readonly tasks: readonly string[];
  readonly visits: readonly string[];
  /** The length of the longest path id so far. */
  readonly longest: () => number;
}

/** Makes a plugin that collects the names of all tasks and visits, and the length of the longest path id. */
function names(): Names {
  const tasks: string[] = [];
  const visits: string[] = [];
  let longest = 0;
  const plugin: Plugin = {
    beforeNode({ scope = "", pathId, turn, visit }) {
      tasks.push(`${scope}>${pathId}@${turn}`);
      visits.push(`${scope}>${pathId}#${visit}`);
      longest = Math.max(longest, pathId.length);
    },
  };
  return { plugin, tasks, visits, longest: () => longest };
}

/** The text of a snapshot without results, and with 0 for numbers. Ids and step paths, whose lengths are bounded, are left out too. */
function shapeOf({ context: _, ...head }: Snapshot): string {
  const plain = (key: string, value: unknown): unknown =>
    key === "stepPath" || key === "id" ? null : typeof value === "number" ? 0 : value;
  return JSON.stringify(head, plain).replace(/\d+/g, "0");
}

interface Made extends Names {
  /** The snapshots after ten rounds, before the last round, and at the end. */
  readonly early: Snapshot;
  readonly late: Snapshot;
  readonly end: Snapshot;
}

/** Runs all rounds in four calls; between them the snapshot goes through JSON, as it does between processes. */
async function run({ definition, tasks }: Loop): Promise<Made> {
  const called = names();
  const plugins = [called.plugin];
  const engine = new WorkflowEngine({ workflow: definition, nodeDefinitions, environment: new VirtualEnvironment(), plugins });
  const early = await engine.execute({ workflowId: "w", stepLimit: 10 * tasks });
  const middle = await engine.execute({ snapshot: viaJson(early), stepLimit: 990 * tasks });
  const late = await engine.execute({ snapshot: viaJson(middle), stepLimit: (rounds - 1_001) * tasks });
  return { ...called, early, late, end: await engine.execute({ snapshot: viaJson(late) }) };
}

const runs = new Map<Loop, Promise<Made>>();

/** Runs each loop only once, because all tests look at the same run. */
function made(loop: Loop): Promise<Made> {
  const known = runs.get(loop) ?? run(loop);
  runs.set(loop, known);
  return known;
}

describe("10,000 rounds of a loop", () => {
  it.each(loops)("with $what give no task a name twice, and no path a long id", async (loop) => {
    const { end, tasks, visits, longest } = await made(loop);
    expect(end).toMatchObject({ status: "completed", activePaths: [], context: { count: [{}, {}, { output: { round: rounds } }] } });
    // the last round performs only the counting node
    expect(tasks).toHaveLength(rounds * loop.tasks - loop.tasks + 1);
    expect(new Set(tasks).size).toBe(tasks.length);
    expect(new Set(visits).size).toBe(visits.length);
    expect(longest()).toBeLessThanOrEqual(32);
  });

  it.each(loops)("with $what leave the head as small as it was after ten", async (loop) => {
    const { early, late, end } = await made(loop);
    expect(early.context.count!.at(-1)?.output).toMatchObject({ round: 10 });
    expect(late.context.count!.at(-1)?.output).toMatchObject({ round: rounds - 1 });
    expect(shapeOf(late)).toBe(shapeOf(early));
    for (const { stepPath } of late.activePaths) expect(stepPath.length).toBeLessThanOrEqual(32);
    for (const key of ["rounds", "childStates", "mapItems", "inbox"]) expect(end).not.toHaveProperty(key);
  });

  it.each(loops)("with $what keep exactly the last three results of each node", async (loop) => {
    const { early, end } = await made(loop);
    for (const { context } of [early, end]) {
      const last = (context.count!.at(-1)!.output as { readonly round: number }).round;
      expect(context.count!.map(({ output }) => output)).toMatchObject([{ round: last - 2 }, { round: last - 1 }, { round: last }]);
      for (const results of Object.values(context)) {
        expect(results).toHaveLength(kept);
        expect(results.map(({ version }) => version)).toEqual(results.map(({ version }) => version).toSorted((a, b) => a - b));
      }
    }
  });

  it("keep all results where a node does not say how many", async () => {
    const { keep: _, ...counting } = count;
    const { end } = await run({ ...loops[0]!, definition: workflow("w", { count: counting }, ["count>count@again"]) });
    expect(end.context.count!.map(({ output }) => (output as { readonly round: number }).round)).toEqual(
      Array.from({ length: rounds }, (_, i) => i + 1),
    );
  });

  // sizeBytes counts what the execution holds. If it only rose, a long loop with `keep` would fail at the limit executionBytes.
  it("do not count what is no longer kept against the size of the execution", async () => {
    const { early, end } = await made(loops[0]!);
    expect(end.sizeBytes).toBeLessThan(2 * early.sizeBytes);
  });

  it("do not fail for the size of results that are no longer kept", async () => {
    const definition = workflow("w", { count: { ...count, keep: 1 } }, ["count>count@again"]);
    const limits = { executionBytes: 100_000 };
    const engine = new WorkflowEngine({ workflow: definition, nodeDefinitions, limits });
    expect(await engine.execute({})).toMatchObject({ status: "completed" });
  });
});
