import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { defineNode, type NodeDefinitions, type RunningStep, type StepContext } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { codedBreaking, codeNames } from "./code-names.ts";
import type { LogLine } from "./log.ts";

const chain = (...ids: readonly string[]) => ids.slice(1).map((target, i) => ({ source: ids[i]!, target }));
const effect = (id: string, data: object = {}, more: object = {}) => ({ id, type: "effect", data, ...more });
const retryPolicy = { maxAttempts: 4, interval: 60, backoff: "exponential" };

/** Clients answer both waits, each with an idempotency key. */
const asking = {
  id: "asking",
  nodes: [
    effect("before"),
    { id: "first", type: "ask" },
    { id: "second", type: "ask" },
    effect("meet", {}, { join: "all" }),
    effect("after"),
  ],
  edges: [...chain("before", "first", "meet"), ...chain("before", "second", "meet"), ...chain("meet", "after")],
};

/** The id of the workflow whose executions fail until they are restarted. */
const breaking = "breaking";
/** Workflows whose executions are restarted where they have failed, and where they were cancelled. */
export const restartedWhenFailed: readonly string[] = [breaking, codedBreaking];
export const restartedWhenCancelled: readonly string[] = ["asking", "monthly", "coded"];

/**
 * Returns the answer to an incident, derived from its id, so that two clients give the same answer. About half of the incidents are
 * retried first.
 */
export function decisionAbout(
  workflowId: string,
  waitId: string,
): { readonly action: "retry" } | { readonly action: "skip"; readonly output: string } {
  const sum = [...`${workflowId} ${waitId}`].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  return sum % 2 === 0 ? { action: "retry" } : { action: "skip", output: "passed over" };
}

/** The workflows of the load, which together use every way in which an execution can move. */
export const loadWorkflows = [
  {
    id: "line",
    nodes: [effect("a"), effect("b"), effect("c", { mostMs: 250 }), effect("d"), effect("e")],
    edges: chain("a", "b", "c", "d", "e"),
    // a parent gets this text as the child's output, so the parent's result names no effect
    output: "done",
  },
  {
    id: "fork",
    nodes: [
      effect("fork"),
      effect("left"),
      effect("middle"),
      effect("right", { mostMs: 150 }),
      effect("join", {}, { join: "all" }),
      effect("end"),
    ],
    edges: [...["left", "middle", "right"].flatMap((branch) => chain("fork", branch, "join")), ...chain("join", "end")],
  },
  {
    id: "retrying",
    nodes: [effect("good"), effect("flaky", { failures: 2 }, { retryPolicy }), effect("end")],
    edges: chain("good", "flaky", "end"),
  },
  {
    id: "timer",
    nodes: [
      effect("before"),
      { id: "nap", type: "wait", data: { for: 400 } },
      effect("middle"),
      { id: "doze", type: "wait", data: { for: 150 } },
      effect("end"),
    ],
    edges: chain("before", "nap", "middle", "doze", "end"),
  },
  /** Its executions are claimed again between their steps. */
  {
    id: "sleeper",
    nodes: [
      effect("a"),
      { id: "nap", type: "wait", data: { for: 200 } },
      effect("b"),
      { id: "doze", type: "wait", data: { for: 200 } },
      effect("c"),
      effect("d"),
      effect("e"),
    ],
    edges: chain("a", "nap", "b", "doze", "c", "d", "e"),
  },
  asking,
  {
    id: "mapped",
    nodes: [effect("before"), { id: "each", type: "map", data: { workflow: "item", items: [1, 2, 3, 4], concurrency: 2 } }, effect("end")],
    edges: chain("before", "each", "end"),
    workflows: {
      item: { id: "item", nodes: [effect("work"), effect("again", { failures: 1 }, { retryPolicy })], edges: chain("work", "again") },
    },
  },
  {
    id: "parent",
    nodes: [effect("before"), { id: "child", type: "workflow", data: { workflow: "line", detached: true } }, effect("end")],
    edges: chain("before", "child", "end"),
  },
  /** Goes on with its next run at once. */
  { id: "rounds", nodes: [effect("a"), { id: "again", type: "goOn", data: { runs: 6 } }], edges: chain("a", "again"), output: "done" },
  /** Waits in each of its runs. */
  {
    id: "monthly",
    nodes: [
      effect("a"),
      { id: "nap", type: "wait", data: { for: 150 } },
      { id: "first", type: "ask" },
      effect("b", { mostMs: 150 }),
      { id: "again", type: "goOn", data: { runs: 3 } },
    ],
    edges: chain("a", "nap", "first", "b", "again"),
  },
  /** Its child goes on, and ends it with its last run. */
  {
    id: "guardian",
    nodes: [effect("before"), { id: "child", type: "workflow", data: { workflow: "rounds", detached: true } }, effect("end")],
    edges: chain("before", "child", "end"),
  },
  /** Its executions end only by a cancellation, which compensates them. */
  {
    id: "doomed",
    nodes: [effect("book", {}, { compensate: { type: "effect", data: {} } }), { id: "never", type: "ask" }],
    edges: chain("book", "never"),
  },
  /** Its executions fail until they are restarted in a process in which they have failed. */
  {
    id: breaking,
    nodes: [effect("good"), effect("broken", { breaks: true }), effect("end")],
    edges: chain("good", "broken", "end"),
  },
  /** Its middle step always fails, and clients decide with an answer how it goes on. */
  {
    id: "deciding",
    nodes: [
      effect("good"),
      effect("broken", { failures: 100 }, { incident: true, retryPolicy: { ...retryPolicy, maxAttempts: 2 } }),
      effect("end"),
    ],
    edges: chain("good", "broken", "end"),
  },
] as const;

/** The ids of all workflows, in the order in which clients start them. */
export const loadNames: readonly string[] = [...loadWorkflows.map(({ id }) => id), ...codeNames];

/** The workflows that have no nodes of these types. */
export function workflowsWithout(types: readonly string[]): readonly (typeof loadWorkflows)[number][] {
  return loadWorkflows.filter(({ nodes }) => nodes.every(({ type }) => !types.includes(type)));
}

/** The settings of an `effect` node. */
export interface EffectData {
  /** The longest duration of the step in milliseconds; the actual one is random. Default: that of the pace. */
  readonly mostMs?: number;
  /** The number of attempts that fail before one succeeds. Default: 0. */
  readonly failures?: number;
  /** True: the first call in each process fails. */
  readonly breaks?: boolean;
}

/** The duration of steps for which the workflow sets none. */
export interface LoadPace {
  /** The longest duration of a step in milliseconds; the actual one is random. */
  readonly mostMs: number;
  /** The step blocks the event loop, so nothing else happens in its process. */
  readonly blocks?: boolean;
}

/** What an effect knows of its step. */
type Acting = Pick<StepContext, "workflowId" | "nodeId" | "idempotencyKey" | "attempt" | "signal">;

/** Returns what an effect knows of a step that code has asked for. */
export function actingOf(workflowId: string, nodeId: string, { idempotencyKey, attempt, signal }: RunningStep): Acting {
  return { workflowId, nodeId, idempotencyKey, attempt, signal };
}

/** A call that was logged: the key of its step, and its own name. */
interface Call {
  readonly key: string;
  readonly call: string;
}

function logged(write: (line: LogLine) => void, { workflowId, nodeId, idempotencyKey: key }: Omit<Acting, "attempt" | "signal">): Call {
  const call = randomUUID();
  write({ what: "called", workflowId, nodeId, key, call });
  return { key, call };
}

/** Returns the function that has the effect of a step: it logs the effect, and returns the call that made it. */
export function loadEffect(
  write: (line: LogLine) => void,
  pace: LoadPace = { mostMs: 60 },
): (data: EffectData, step: Acting) => Promise<Call> {
  const broken = new Set<string>();
  return async ({ mostMs = pace.mostMs, failures = 0, breaks = false }, step) => {
    const { workflowId, attempt, signal } = step;
    const { key, call } = logged(write, step);
    signal.addEventListener("abort", () => write({ what: "aborted", workflowId, key, call, reason: codeOf(signal.reason) }), {
      once: true,
    });
    if (pace.blocks) block(mostMs);
    else await sleep(Math.random() * mostMs);
    if (breaks && !broken.has(key)) {
      broken.add(key);
      throw new TypeError("it fails the first time in this process");
    }
    if (attempt <= failures) throw new TypeError(`attempt ${attempt} fails`);
    return { key, call };
  };
}

/** Returns the node definitions. Each step logs its effect, and its output names the call that made it. */
export function loadNodes(write: (line: LogLine) => void, pace?: LoadPace): NodeDefinitions {
  const effect = loadEffect(write, pace);
  return {
    ...builtinNodes,
    effect: defineNode({ executor: async (data, step) => ({ data: { ...(await effect(data as EffectData, step)) } }) }),
    ask: defineNode({
      executor: (_data, step) => (step.resumed ? { data: { ...logged(write, step) } } : step.suspend({ question: "Well?" })),
    }),
    goOn: defineNode({
      executor(data, step) {
        const { run = 1, ...input } = (step.input ?? {}) as { readonly run?: number };
        const called = { ...logged(write, step) };
        return run < (data as { readonly runs: number }).runs ? { continueAs: { input: { ...input, run: run + 1 } } } : { data: called };
      },
    }),
  };
}

function block(forMs: number): void {
  const until = performance.now() + forMs;
  while (performance.now() < until);
}

/** Returns the code of an error, or its name, or its text. */
export function codeOf(thrown: unknown): string {
  const { code, name } = (thrown ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : String(thrown);
}

/** Ids of nodes without an effect of their own: their output is their input. */
export const passingNodes: ReadonlySet<string> = new Set(
  loadWorkflows.flatMap(({ nodes }) => nodes.filter(({ type }) => type === "wait").map(({ id }) => id)),
);
