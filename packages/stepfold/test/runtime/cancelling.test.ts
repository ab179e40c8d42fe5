import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../src/core/explain/waits.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { Run } from "../../src/runtime/handle/run.ts";
import { HeldSteps, workflow } from "../engine/cancelling.fixture.ts";
import { viaJson } from "../engine/engine.fixture.ts";
import { closeAll, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

/** A third of the lease. A session renews its claim at this interval, and learns of a cancellation with the renewal. */
const renewal = 10 * second;

const item = workflow("item", { work: "slow", more: { type: "set", data: "{{ nodes.work.last.data }}" } }, ["work>more"]);
const busy = workflow(
  "busy",
  {
    f: "noop",
    a: "slow",
    twice: "slow",
    b: "slow",
    list: { type: "map", data: { workflow: "item", items: ["x", "y", "z"] } },
    sub: { type: "workflow", data: { workflow: "item", input: "sub" } },
    after: { type: "noop", join: "all" },
  },
  ["f>a", "f>twice", "f>twice", "f>b", "f>list", "f>sub", "a>after", "b>after"],
  { workflows: { item } },
);
const all = ["a", "b", "twice", "twice@0.2", "work:sub", "work:x", "work:y", "work:z"];

interface Case {
  readonly what: string;
  /** Sends the cancellation. */
  readonly tell: (run: Run) => Promise<void>;
  /** The steps whose `AbortSignal` fires. */
  readonly aborted: readonly string[];
  /** The nodes that have no output because they were cancelled. `gives` has the outputs of nodes that were cancelled in part. */
  readonly lacks: readonly string[];
  readonly gives?: Readonly<Record<string, unknown>>;
}

const cases: readonly Case[] = [
  { what: "a path", tell: (run) => run.cancel({ step: "a" }), aborted: ["a"], lacks: ["a"] },
  { what: "all paths of a node", tell: (run) => run.cancel({ step: "twice" }), aborted: ["twice", "twice@0.2"], lacks: ["twice"] },
  { what: "a map", tell: (run) => run.cancel({ step: "list" }), aborted: ["work:x", "work:y", "work:z"], lacks: ["list"] },
  {
    what: "one item of a map",
    tell: (run) => run.cancel({ step: "list", item: 1 }),
    aborted: ["work:y"],
    lacks: [],
    gives: { list: ["work:x done", null, "work:z done"] },
  },
  {
    what: "a path in an item",
    tell: (run) => run.cancel({ step: "list[2]/work" }),
    aborted: ["work:z"],
    lacks: [],
    gives: { list: ["work:x done", "work:y done", null] },
  },
  { what: "a sub-workflow", tell: (run) => run.cancel({ step: "sub" }), aborted: ["work:sub"], lacks: ["sub"] },
  {
    what: "what is left of a map",
    tell: (run) => run.completeMap("list"),
    aborted: ["work:x", "work:y", "work:z"],
    lacks: [],
    gives: { list: [null, null, null] },
  },
  { what: "the execution", tell: (run) => run.cancel({}), aborted: all, lacks: ["a", "b", "twice", "list", "sub", "after"] },
];

/** The process that cancels, and the way in which the session that runs the steps learns of the cancellation. */
const ways = [
  { way: "in the same process", elsewhere: false, then: "at once" },
  { way: "in another process", elsewhere: true, then: "with the next sign of life" },
  { way: "in another process", elsewhere: true, then: "with the next result" },
] as const;

type Way = (typeof ways)[number];

/** Starts an execution with many steps under way. `tell` sends a cancellation, and `finish` completes steps. */
async function underWay({ elsewhere, then }: Way) {
  const steps = new HeldSteps();
  const quick = new HeldSteps();
  const options = {
    nodeDefinitions: { ...builtinNodes, slow: defineNode({ executor: steps.executor }), quick: defineNode({ executor: quick.executor }) },
    workflows: [{ ...busy, nodes: [...busy.nodes, { id: "q", type: "quick" }], edges: [...busy.edges, { source: "f", target: "q" }] }],
    leaseMs: 3 * renewal,
  };
  const { runtime, environment, store } = setUp(options);
  const run = await runtime.start("busy", { workflowId: "w" });
  await environment.settle();
  const teller = elsewhere ? await setUp({ ...options, store, drive: false }, environment).runtime.get("w") : run;
  return {
    steps,
    run,
    store,
    environment,
    async tell(told: Case["tell"]): Promise<void> {
      await told(teller);
      await environment.settle();
      if (elsewhere) expect(steps.aborted).toEqual([]);
      if (then === "with the next result") quick.finish("q");
      await (then === "with the next sign of life" ? environment.advance(renewal + 1) : environment.settle());
    },
    async finish(names: readonly string[], data?: string): Promise<void> {
      for (const name of names) steps.finish(name, data ?? `${name} done`);
      if (quick.running.length > 0) quick.finish("q");
      await environment.settle();
    },
  };
}

describe.each(ways)("a cancellation $way, known $then", (way) => {
  it.each(cases)("of $what aborts the steps there and no others, and keeps the outputs of the others", async (expected) => {
    const { steps, run, tell, finish, store } = await underWay(way);
    expect(steps.running.toSorted()).toEqual(all);
    await tell(expected.tell);
    expect(steps.aborted.toSorted()).toEqual(expected.aborted);
    const known = await run.snapshot();
    await finish(expected.aborted, "too late");
    expect((await run.snapshot()).context).toMatchObject(viaJson(known.context));
    expect(JSON.stringify(await store.events("w", -1, 100))).not.toContain("too late");
    await finish(all.filter((name) => !expected.aborted.includes(name)));
    const { status, context, activePaths } = await run.snapshot();
    expect([status, activePaths]).toEqual([expected.aborted === all ? "cancelled" : "completed", []]);
    const given = Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]));
    const whole = {
      a: ["a done"],
      twice: ["twice done", "twice@0.2 done"],
      b: ["b done"],
      list: [["work:x done", "work:y done", "work:z done"]],
      sub: ["work:sub done"],
      after: [expect.anything()],
    };
    const gives = Object.fromEntries(Object.entries(expected.gives ?? {}).map(([nodeId, output]) => [nodeId, [output]]));
    const expectedGiven = Object.entries({ ...whole, ...gives }).filter(([nodeId]) => !expected.lacks.includes(nodeId));
    const { f: _, q: __, ...rest } = given;
    expect(rest).toEqual(Object.fromEntries(expectedGiven));
    expect(steps.aborted.toSorted()).toEqual(expected.aborted);
  });

  it("gives the step an AbortError, once", async () => {
    const reasons: unknown[] = [];
    const listening = defineNode({
      executor: (_data, step) =>
        new Promise<never>(() => {
          step.signal.addEventListener("abort", () => reasons.push(step.signal.reason));
        }),
    });
    const options = { nodeDefinitions: { listening }, workflows: [workflow("w", { a: "listening" })], leaseMs: 3 * renewal };
    const { runtime, environment, store } = setUp(options);
    const run = await runtime.start("w", { workflowId: "w" });
    await environment.settle();
    const teller = way.elsewhere ? await setUp({ ...options, store, drive: false }, environment).runtime.get("w") : run;
    await teller.cancel();
    await environment.advance(10 * renewal);
    expect(reasons).toMatchObject([{ name: "AbortError" }]);
  });
});

describe("a cancellation", () => {
  const paths = workflow("w", { f: "noop", ask: "approval", a: "slow" }, ["f>ask", "f>ask", "f>a", "ask>a@approved"]);

  it("of one path of several, by its wait, leaves the others and the steps in flight", async () => {
    const steps = new HeldSteps();
    const nodeDefinitions = { ...builtinNodes, slow: defineNode({ executor: steps.executor }) };
    const { runtime, environment } = setUp({ nodeDefinitions, workflows: [paths] });
    const run = await runtime.start("w", { workflowId: "w" });
    await environment.settle();
    const [first, other] = waits(await run.snapshot());
    await run.cancel({ waitId: first!.id });
    await environment.settle();
    expect(waits(await run.snapshot())).toEqual([other]);
    expect(steps.aborted).toEqual([]);
    await expect(run.resume({ waitId: first!.id, payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    steps.finish("a");
    await run.resume({ payload: { approved: true } });
    await environment.settle();
    steps.finish("a");
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed", context: { a: [{}, {}] } });
  });

  it("wins over the result of the step it cancels, if it is committed first, and loses otherwise", async () => {
    for (const cancelsFirst of [true, false]) {
      const steps = new HeldSteps();
      const options = { nodeDefinitions: { slow: defineNode({ executor: steps.executor }) }, workflows: [workflow("w", { a: "slow" })] };
      const { runtime, environment, store } = setUp(options);
      const run = await runtime.start("w", { workflowId: "w" });
      await environment.settle();
      const teller = await setUp({ ...options, store, drive: false }, environment).runtime.get("w");
      if (!cancelsFirst) steps.finish("a");
      if (!cancelsFirst) await environment.settle();
      const verdict = await teller.cancel().then(
        () => "cancelled",
        (error: { readonly code?: string }) => error.code,
      );
      if (cancelsFirst) steps.finish("a");
      await environment.settle();
      expect(verdict).toBe(cancelsFirst ? "cancelled" : "EXECUTION_ENDED");
      expect((await run.snapshot()).status).toBe(cancelsFirst ? "cancelled" : "completed");
      expect(Object.keys((await run.snapshot()).context)).toEqual(cancelsFirst ? [] : ["a"]);
    }
  });
});
