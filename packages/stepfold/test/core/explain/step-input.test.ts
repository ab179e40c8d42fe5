import { expect, it } from "vitest";
import { type StepInput, stepInput } from "../../../src/core/explain/step-input.ts";
import { addressOf } from "../../../src/core/snapshot/address.ts";
import type { Event } from "../../../src/core/snapshot/event.ts";
import { Replay } from "../../../src/core/transition/replay.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";

interface Seen {
  readonly address: string;
  readonly attempt: number;
  readonly data: Json;
  /** What resumed the step; undefined if it was not resumed. */
  readonly by: string | undefined;
}

/** Runs a workflow and records the data that its steps of type `see` get. */
async function seenIn(workflow: object, input: Json, options: { readonly globals?: object; readonly answer?: Json } = {}) {
  const seen: Seen[] = [];
  const see = defineNode({
    retryPolicy: { maxAttempts: 2, interval: 0, backoff: "fixed" },
    executor: (data, step) => {
      seen.push({ address: step.nodeId, attempt: step.attempt, data: data as Json, by: step.resumed?.by });
      const { fails, asks } = (data ?? {}) as { readonly fails?: number; readonly asks?: boolean };
      if (fails !== undefined && step.attempt <= fails) throw new Error("not yet");
      return asks && !step.resumed ? step.suspend({}) : { data };
    },
  });
  const events: Event[] = [];
  const plugins = [{ onEvent: (event: Event) => void events.push(event) }];
  const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions: { ...builtinNodes, see }, plugins });
  const run = options.globals ? { globals: options.globals } : {};
  let snapshot = await engine.execute({ input, ...run } as never);
  for (let turns = 0; turns < 5 && snapshot.status === "error"; turns++) snapshot = await engine.execute({ snapshot, ...run } as never);
  if (options.answer !== undefined) snapshot = await engine.execute({ snapshot, externalPayload: options.answer, ...run } as never);
  return { seen, events, compiled: engine.workflow, snapshot };
}

it("says what each attempt of each step is given, at the version before its outcome", async () => {
  const workflow = {
    ...flow(
      "all",
      {
        first: ["see", { id: "{{ execution.id }}", n: "{{ input.n }}", at: "{{ $now }}", chance: "{{ uuid() }}" }],
        left: ["see", { came: "{{ $json.n + 1 }}", fails: 1, attempt: "{{ attempt }}" }],
        right: ["see", { constant: [1, { a: true }] }],
        both: ["see", { inputs: "{{ inputs.length }}" }],
        each: ["map", { workflow: "item", items: "{{ [input.n, 20] }}" }],
      },
      ["first>left", "first>right", "left>both", "right>both", "both>each"],
    ),
    workflows: { item: flow("item", { see: ["see", { item: "{{ item }}", index: "{{ index }}" }] }) },
  };
  const joined = {
    ...workflow,
    nodes: (workflow as unknown as { nodes: { id: string }[] }).nodes.map((n) => (n.id === "both" ? { ...n, join: "all" } : n)),
  };
  const { seen, events, compiled, snapshot } = await seenIn(joined, { n: 10 });
  expect(snapshot.status).toBe("completed");
  const replay = new Replay(compiled);
  const told: Omit<Seen, "by">[] = [];
  for (const event of events) {
    if ((event.type === "completed" || event.type === "failed") && event.nodeId !== "each") {
      const before = replay.snapshot()!;
      const place = addressOf(before, event.scope ?? "", event.nodeId);
      const given = stepInput(compiled, before, place)!;
      expect(given.address).toBe(place);
      told.push({ address: event.nodeId, attempt: given.attempt, data: given.data });
    }
    replay.add(event);
  }
  const ordered = (all: readonly object[]): string[] => all.map((one) => JSON.stringify(one)).sort();
  expect(ordered(told)).toEqual(ordered(seen.map(({ by: _, ...one }) => one)));
  expect(told.filter(({ address }) => address === "left").map(({ attempt }) => attempt)).toEqual([1, 2]);
});

it("says what woke a step, and what a waiting one would be given", async () => {
  const workflow = flow("ask", { ask: ["see", { asks: true, who: "{{ input.who }}" }] });
  const { compiled, events } = await seenIn(workflow, { who: "ada" }, { answer: { yes: true } });
  const replay = new Replay(compiled);
  const inputs: (StepInput | null)[] = [];
  for (const event of events) {
    replay.add(event);
    inputs.push(stepInput(compiled, replay.snapshot()!, "ask"));
  }
  const data = { asks: true, who: "ada" };
  expect(inputs[0]).toEqual({ address: "ask", nodeId: "ask", attempt: 1, data });
  expect(inputs[1]).toMatchObject({ data });
  expect(inputs[2]).toMatchObject({ data, resumed: { by: "payload", payload: { yes: true } } });
  // after the last event the execution has ended, so no step has an input
  expect(inputs.at(-1)).toBeNull();
  expect(stepInput(compiled, replay.snapshot()!, "nowhere")).toBeNull();
});

it("shows no globals but those that it is given, and needs none", async () => {
  const data = { auth: "Bearer {{ globals.pay.key }}", url: "{{ globals.pay.url }}", any: "{{ globals[input.name] ?? 'none' }}" };
  const workflow = flow("pay", { pay: ["see", { ...data, asks: true }] });
  const globals = { pay: { key: "s3cret", url: "https://pay.example" } };
  const { compiled, snapshot } = await seenIn(workflow, { name: "x" }, { globals });
  const masked = stepInput(compiled, snapshot, "pay")!;
  expect(masked.data).toMatchObject({ auth: "Bearer ***", url: "***" });
  expect(JSON.stringify(masked)).not.toContain("s3cret");
  const whole = stepInput(compiled, snapshot, "pay", { globals })!;
  expect(whole.data).toMatchObject({ auth: "Bearer s3cret", url: "https://pay.example", any: "none" });
});

it("says why an expression cannot be resolved", async () => {
  const workflow = flow("bad", { bad: ["see", { x: "{{ nodes.later.last.data.x }}" }], later: "noop" }, ["bad>later"]);
  const { compiled, events } = await seenIn(workflow, {});
  const replay = new Replay(compiled);
  replay.add(events[0]!);
  expect(stepInput(compiled, replay.snapshot()!, "bad")).toMatchObject({ data: null, error: { code: "EXPRESSION_FAILED" } });
});

it("says what undoes a step is given, and reads what is there of a snapshot that lacks results and times", async () => {
  const undo = { type: "see", data: { asks: true, of: "{{ $json.n }}" } };
  const nodes = [
    { id: "book", type: "see", data: { n: 7 }, compensate: undo },
    { id: "stop", type: "fail", data: { message: "no" } },
  ];
  const { compiled, snapshot } = await seenIn({ id: "undo", nodes, edges: [{ source: "book", target: "stop" }] }, {});
  expect(stepInput(compiled, snapshot, "book")).toMatchObject({ data: { asks: true, of: 7 }, incoming: { n: 7 } });
  expect(stepInput(compiled, { ...snapshot, context: {} }, "book")).not.toHaveProperty("incoming");

  const joined = flow(
    "join",
    { a: ["set", { x: 1 }], b: ["set", { x: 2 }], both: ["see", { asks: true, n: "{{ inputs.length }}" }], f: "noop" },
    ["f>a", "f>b", "a>both", "b>both"],
  ) as { nodes: { id: string }[] };
  const all = { ...joined, start: "f", nodes: joined.nodes.map((node) => (node.id === "both" ? { ...node, join: "all" } : node)) };
  const both = await seenIn(all, {});
  expect(stepInput(both.compiled, both.snapshot, "both")?.data).toMatchObject({ n: 2 });
  expect(stepInput(both.compiled, { ...both.snapshot, context: {} }, "both")?.data).toMatchObject({ n: 0 });
  // only one of the two results that the join consumed is left: the result of `a` has another version
  const { a = [] } = both.snapshot.context;
  const old = a.map((result) => ({ ...result, version: result.version + 100 }));
  expect(stepInput(both.compiled, { ...both.snapshot, context: { ...both.snapshot.context, a: old } }, "both")?.data).toMatchObject({
    n: 1,
  });

  const timed = await seenIn(flow("first", { first: ["see", { asks: true, at: "{{ $now }}" }] }), {});
  const { createdAt: _, ...timeless } = timed.snapshot;
  expect(stepInput(timed.compiled, timeless, "first")?.data).toMatchObject({ at: "1970-01-01T00:00:00.000Z" });
});

it("gives null where the data are one expression that gives nothing", async () => {
  const { compiled, events } = await seenIn(flow("none", { none: ["see", "{{ input.nothing }}"] }), {});
  const replay = new Replay(compiled);
  replay.add(events[0]!);
  expect(stepInput(compiled, replay.snapshot()!, "none")?.data).toBeNull();
});

it("refuses what is no option", async () => {
  const { compiled, snapshot } = await seenIn(flow("one", { see: ["see", { asks: true }] }), null);
  expect(() => stepInput(compiled, snapshot, "see", { global: {} } as never)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
});

it("refuses the snapshot of another workflow", async () => {
  const { compiled, snapshot } = await seenIn(flow("w", { ask: ["see", { asks: true }] }), null);
  const { compiled: other } = await seenIn(flow("w", { say: "see" }), null);
  expect(stepInput(compiled, snapshot, "ask")).toMatchObject({ nodeId: "ask" });
  expect(() => stepInput(other, snapshot, "ask")).toThrow(expect.objectContaining({ code: "SNAPSHOT_INVALID" }));
});
