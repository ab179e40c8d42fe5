import { defineNode } from "../../src/engine/node/define-node.ts";
import { FatalError } from "../../src/engine/node/fatal-error.ts";
import type { NodeDefinitions } from "../../src/engine/node/node-definition.ts";
import type { StepContext } from "../../src/engine/node/step-context.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { VirtualEnvironment } from "../../src/testing/virtual-environment.ts";
import type { Told } from "./journal-host.fixture.ts";

/** A workflow that runs as a guest and in the classic engine, with the messages that it gets meanwhile. */
export interface Flow {
  readonly workflow: { readonly id: string } & Readonly<Record<string, unknown>>;
  /** The other workflows that it may start. */
  readonly more?: readonly unknown[];
  readonly input?: unknown;
  /** The commands that the execution gets, in the order of their times. */
  readonly script?: readonly Told[];
}

/** The side effects of nodes: how many times each attempt acted, by node, idempotency key and attempt. */
export type Effects = Map<string, number>;

interface WorkData {
  /** The output. Default: null. */
  readonly value?: unknown;
  /** The number of attempts that fail before one succeeds. */
  readonly fails?: number;
  /** True: the failure is a `FatalError`, which is not retried. */
  readonly fatal?: boolean;
  readonly takesMs?: number;
  /** The variables that the node sets. */
  readonly set?: Readonly<Record<string, unknown>>;
}

/** The built-in node types, the type `work` and the type `undo`; each call of the last two is an effect. */
export function flowNodes(effects: Effects, clock: Pick<VirtualEnvironment, "after">): NodeDefinitions {
  const act = (step: StepContext, what: string): void => {
    const key = `${what} ${step.idempotencyKey} ${step.attempt}`;
    effects.set(key, (effects.get(key) ?? 0) + 1);
  };
  const work = defineNode<WorkData, unknown>({
    executor: async ({ value = null, fails = 0, fatal, takesMs, set }, step) => {
      act(step, step.nodeId);
      if (takesMs !== undefined) await new Promise<void>((resolve) => clock.after(takesMs, resolve));
      if (step.attempt <= fails) throw fatal ? new FatalError("refused", { details: { why: "it must be so" } }) : new Error("busy");
      return { data: value, ...(set && { vars: set }) };
    },
  });
  const undo = defineNode<unknown, unknown>({
    executor: (_data, step) => {
      act(step, `undo ${step.nodeId}`);
      return { data: "undone" };
    },
  });
  return { ...builtinNodes, work: work as never, undo: undo as never };
}

type Parts = Readonly<Record<string, unknown>>;

const node = (id: string, data: Parts = {}, more: Parts = {}): Parts => ({ id, type: "work", data, ...more });
/** Edges as `"a>b"`, `"a>b@handle"`. */
const edges = (...drawn: readonly string[]): Parts[] =>
  drawn.map((text) => {
    const [source, target, sourceHandle] = text.split(/[>@]/);
    return { source, target, ...(sourceHandle !== undefined && { sourceHandle }) };
  });
const flow = (id: string, nodes: readonly Parts[], drawn: readonly string[], more: Parts = {}): Flow["workflow"] => ({
  id,
  nodes,
  edges: edges(...drawn),
  ...more,
});

const minute = 60_000;
const approve = (atMs: number, target?: string, payload: unknown = { approved: true }): Told => ({
  atMs,
  command: { type: "resume", payload, ...(target !== undefined && { target }) },
});

const item = flow(
  "item",
  [node("look", { value: "{{ input * 2 }}" }), node("ask", {}, { type: "approval", data: { message: "ok?" } })],
  ["look>ask"],
);
const double = flow(
  "double",
  [node("twice", { value: "{{ input * 2 }}", fails: 1 }, { retryPolicy: { maxAttempts: 2, interval: "3s", backoff: "fixed" } })],
  [],
);
const inner = flow("inner", [node("deep", { value: "{{ input + 1 }}" }), node("rest", { for: "1m" }, { type: "wait" })], ["deep>rest"], {
  output: "{{ nodes.deep.last.data }}",
});

/** Workflows, by the feature that they show. */
export const flows: Readonly<Record<string, Flow>> = {
  "steps one after the other": {
    workflow: flow("chain", [node("a", { value: 1 }), node("b", { value: "{{ nodes.a.last.data + 1 }}" })], ["a>b"]),
  },
  "retries with growing pauses": {
    workflow: flow(
      "retry",
      [
        node(
          "call",
          { value: "there", fails: 3 },
          { retryPolicy: { maxAttempts: 5, interval: "2s", backoff: "exponential", jitter: 0.5 } },
        ),
      ],
      [],
    ),
  },
  "retries that are used up, and the edge error": {
    workflow: flow(
      "spent",
      [
        node("call", { fails: 9 }, { retryPolicy: { maxAttempts: 3, interval: "1s", backoff: "fixed" } }),
        node("else", { value: "{{ nodes.call.last.error }}" }),
      ],
      ["call>else@error"],
    ),
  },
  "a failure that ends it": { workflow: flow("fatal", [node("call", { fails: 1, fatal: true })], []) },
  "a pause": { workflow: flow("pause", [node("nap", { for: "1h" }, { type: "wait" }), node("then", { value: "{{ 7 }}" })], ["nap>then"]) },
  "an approval in time": {
    workflow: flow(
      "approval",
      [
        node("ask", { message: "ok?", timeout: "1h" }, { type: "approval" }),
        node("yes", { value: "yes" }),
        node("late", { value: "late" }),
      ],
      ["ask>yes@approved", "ask>late@timeout"],
    ),
    script: [approve(30 * minute)],
  },
  "an approval too late": {
    workflow: flow(
      "expired",
      [
        node("ask", { message: "ok?", timeout: "1h" }, { type: "approval" }),
        node("yes", { value: "yes" }),
        node("late", { value: "late" }),
      ],
      ["ask>yes@approved", "ask>late@timeout"],
    ),
  },
  "an answer that does not fit, and one that does": {
    workflow: flow("picky", [node("ask", { message: "ok?" }, { type: "approval" }), node("yes", { value: "yes" })], ["ask>yes@approved"]),
    script: [approve(minute, undefined, { approved: "perhaps" }), approve(2 * minute, "nowhere"), approve(3 * minute)],
  },
  "two approvals one after the other": {
    workflow: flow(
      "twice",
      [
        node("one", { message: "1?" }, { type: "approval" }),
        node("two", { message: "2?" }, { type: "approval" }),
        node("end", { value: "{{ nodes.two.last.data }}" }),
      ],
      ["one>two@approved", "two>end@approved"],
    ),
    script: [approve(minute), approve(2 * minute)],
  },
  "a quorum of named people": {
    workflow: flow(
      "quorum",
      [node("ask", { responders: ["ada", "bob", "cy"], quorum: 2 }, { type: "approval" }), node("yes", { value: "yes" })],
      ["ask>yes@approved"],
    ),
    script: ["ada", "ada", "eve", "cy"].map((by, i) => ({
      atMs: i * minute,
      command: { type: "resume", by, payload: { approved: true } } as const,
    })),
  },
  "a pause until a moment, as a database writes it, and a format": {
    workflow: flow(
      "moment",
      [
        node("nap", { until: "2026-01-01 02:00:00+01" }, { type: "wait" }),
        node("then", { value: "{{ date.format('2026-01-01t00:00:00z', \"kkkk-'W'WW\") }} {{ date.add(0, 'PT1.5H') }}" }),
      ],
      ["nap>then"],
    ),
  },
  "signals, one of them before anybody waits": {
    workflow: flow(
      "signals",
      [
        node("nap", { for: "10m" }, { type: "wait" }),
        node("paid", { name: "paid" }, { type: "signal" }),
        node("sent", { name: "sent" }, { type: "signal" }),
      ],
      ["nap>paid", "paid>sent"],
    ),
    script: [
      { atMs: minute, command: { type: "signal", name: "paid", payload: { by: "card" } } },
      { atMs: 20 * minute, command: { type: "signal", name: "sent", payload: 3 } },
    ],
  },
  "paths at once that meet again": {
    workflow: flow(
      "join",
      [
        node("fork"),
        node("left", { value: "l", takesMs: 50 }),
        node("right", { value: "r", fails: 1, takesMs: 20 }, { retryPolicy: { maxAttempts: 2, interval: "5s", backoff: "fixed" } }),
        node("slow", { for: "2m" }, { type: "wait" }),
        node("meet", { value: "{{ inputs.length }}" }, { join: "all" }),
      ],
      ["fork>left", "fork>right", "fork>slow", "left>meet", "right>meet", "slow>meet"],
    ),
  },
  "a join of the first two": {
    workflow: flow(
      "two-of-three",
      [
        node("fork"),
        node("a", { value: 1, takesMs: 10 }),
        node("b", { value: 2, takesMs: 20 }),
        node("c", { for: "1h" }, { type: "wait" }),
        node("meet", { value: "met" }, { join: 2 }),
      ],
      ["fork>a", "fork>b", "fork>c", "a>meet", "b>meet", "c>meet"],
    ),
  },
  "a timer that cancels a slow step": {
    workflow: flow(
      "cancels",
      [
        node("fork"),
        node("slow", { value: "slow", takesMs: 3_000 }),
        node("nap", { for: "1s" }, { type: "wait" }),
        node("stop", { value: "stopped" }, { cancels: ["slow"] }),
      ],
      ["fork>slow", "fork>nap", "nap>stop"],
    ),
  },
  "a map of retried items": {
    workflow: flow("map", [node("all", { workflow: "double", items: "{{ input }}", concurrency: 2 }, { type: "map" })], []),
    more: [double],
    input: [1, 2, 3, 4, 5],
  },
  "a map whose items wait for people": {
    workflow: flow("asked", [node("all", { workflow: "item", items: "{{ input }}" }, { type: "map" })], []),
    more: [item],
    input: [1, 2, 3],
    script: [approve(minute, "all[1]/ask"), approve(2 * minute, "all[2]/ask"), approve(3 * minute, "all[0]/ask")],
  },
  "a workflow in a workflow": {
    workflow: flow(
      "outer",
      [node("first", { value: 4 }), node("sub", { workflow: "inner", input: "{{ nodes.first.last.data }}" }, { type: "workflow" })],
      ["first>sub"],
    ),
    more: [inner],
  },
  "a loop that counts in a variable": {
    workflow: flow(
      "loop",
      [
        node("add", { value: "{{ vars.sum ?? 0 }}", set: { sum: 2 } }),
        node("more", { condition: "{{ vars.sum < 7 }}" }, { type: "if" }),
        node("done", { value: "{{ vars.sum }}" }),
      ],
      ["add>more", "more>add@true", "more>done@false"],
      { start: "add", variables: { sum: { initial: 0, reducer: "add" } } },
    ),
  },
  "variables of paths at once": {
    workflow: flow(
      "lists",
      [
        node("fork"),
        node("one", { takesMs: 30, set: { log: "one" } }),
        node("two", { takesMs: 20, set: { log: "two" } }),
        node("meet", { value: "{{ [vars.log.length, vars.log.includes('one'), vars.log.includes('two')] }}" }, { join: "all" }),
      ],
      ["fork>one", "fork>two", "one>meet", "two>meet"],
      { variables: { log: { initial: [], reducer: "append" } } },
    ),
  },
  "what was done is undone": {
    workflow: flow(
      "trip",
      [
        node("hotel", { value: "h" }, { compensate: { type: "undo" } }),
        node("flight", { value: "f" }, { compensate: { type: "undo" } }),
        node("pay", { fails: 1, fatal: true }),
      ],
      ["hotel>flight", "flight>pay"],
    ),
  },
  "a cancellation undoes what was done": {
    workflow: flow(
      "called-off",
      [node("hotel", { value: "h" }, { compensate: { type: "undo" } }), node("ask", { message: "ok?" }, { type: "approval" })],
      ["hotel>ask"],
    ),
    script: [{ atMs: minute, command: { type: "cancel", reason: "no more time" } }],
  },
  "a deadline that passes while it waits": {
    workflow: flow(
      "overdue",
      [node("hotel", { value: "h" }, { compensate: { type: "undo" } }), node("ask", { message: "ok?" }, { type: "approval" })],
      ["hotel>ask"],
      { timeout: "1h" },
    ),
  },
  "a deadline that passes while a step runs": {
    workflow: flow("cut-off", [node("slow", { value: "slow", takesMs: 3_000 }), node("then", { value: 1 })], ["slow>then"], {
      timeout: "1s",
    }),
  },
  "a deadline of a workflow in a workflow": {
    workflow: flow(
      "patient",
      [node("sub", { workflow: "nap" }, { type: "workflow" }), node("else", { value: "{{ nodes.sub.last.error }}" })],
      ["sub>else@error"],
    ),
    more: [flow("nap", [node("rest", { for: "1h" }, { type: "wait" })], [], { timeout: "1m" })],
  },
  "what runs at the end of a failure": {
    workflow: flow(
      "cleaned",
      [
        node("hotel", { value: "h" }, { compensate: { type: "undo" } }),
        node("pay", { fails: 1, fatal: true }),
        node(
          "clean",
          { value: "{{ execution.end.status }}", fails: 1 },
          { retryPolicy: { maxAttempts: 2, interval: "3s", backoff: "fixed" } },
        ),
        node("tell", { value: "{{ nodes.clean.last.data }}" }),
      ],
      ["hotel>pay", "clean>tell"],
      { finally: "clean" },
    ),
  },
};
