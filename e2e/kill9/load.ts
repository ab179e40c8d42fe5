import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { defineNode, type NodeDefinitions } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import type { LogLine } from "./log.ts";

const chain = (...ids: readonly string[]) => ids.slice(1).map((target, i) => ({ source: ids[i]!, target }));
const effect = (id: string, data: object = {}, more: object = {}) => ({ id, type: "effect", data, ...more });
const retryPolicy = { maxAttempts: 4, interval: 60, backoff: "exponential" };

/** Answered by clients, each with its idempotency key. */
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

/** Id of the workflow whose executions fail the first time. */
export const breaking = "breaking";

/** Whether an execution of it goes on from one that has failed. */
export function isRestart(workflowId: string): boolean {
  return workflowId.includes("~");
}

/** How an incident is answered, derived from its id: two clients that answer the same one give the same answer. Half of them are retried first. */
export function decisionAbout(
  workflowId: string,
  waitId: string,
): { readonly action: "retry" } | { readonly action: "skip"; readonly output: string } {
  const sum = [...`${workflowId} ${waitId}`].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  return sum % 2 === 0 ? { action: "retry" } : { action: "skip", output: "passed over" };
}

/** What the processes are busy with: every way for an execution to move. */
export const loadWorkflows = [
  {
    id: "line",
    nodes: [effect("a"), effect("b"), effect("c", { mostMs: 250 }), effect("d"), effect("e")],
    edges: chain("a", "b", "c", "d", "e"),
    // what it gives to a parent is no effect of the parent's
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
  /** Claimed anew between its steps. */
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
  /** Ends only by being cancelled, and is undone then. */
  {
    id: "doomed",
    nodes: [effect("book", {}, { compensate: { type: "effect", data: {} } }), { id: "never", type: "ask" }],
    edges: chain("book", "never"),
  },
  /** Fails, until it is restarted: the restart completes. */
  {
    id: breaking,
    nodes: [effect("good"), effect("broken", { isMended: "by a restart" }), effect("end")],
    edges: chain("good", "broken", "end"),
  },
  /** Its middle step fails whenever it is tried: clients decide what becomes of it. */
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

/** By their ids, in the order in which clients start them. */
export const loadNames: readonly string[] = loadWorkflows.map(({ id }) => id);

interface EffectData {
  readonly mostMs?: number;
  /** Attempts that fail before one does not. */
  readonly failures?: number;
  /** Every attempt fails, but in an execution that goes on from one that has failed. */
  readonly isMended?: string;
}

/** How long steps take where the workflow does not say. */
export interface LoadPace {
  readonly mostMs: number;
  /** No promise, but a loop: nothing else happens in the process meanwhile. */
  readonly blocks?: boolean;
}

/** The steps: each notes its effect in the log of its process, and its output names the very call that made it. */
export function loadNodes(write: (line: LogLine) => void, pace: LoadPace = { mostMs: 60 }): NodeDefinitions {
  return {
    ...builtinNodes,
    effect: defineNode({
      async executor(data, step) {
        const { mostMs = pace.mostMs, failures = 0, isMended } = data as EffectData;
        const { workflowId, nodeId, idempotencyKey: key, attempt, signal } = step;
        const call = randomUUID();
        write({ what: "called", workflowId, nodeId, key, call });
        signal.addEventListener("abort", () => write({ what: "aborted", workflowId, key, call, reason: codeOf(signal.reason) }), {
          once: true,
        });
        if (pace.blocks) block(mostMs);
        else await sleep(Math.random() * mostMs);
        if (isMended !== undefined && !isRestart(workflowId)) throw new TypeError(`it fails until it is mended ${isMended}`);
        if (attempt <= failures) throw new TypeError(`attempt ${attempt} fails`);
        return { data: { key, call } };
      },
    }),
    ask: defineNode({
      executor: (_data, step) => {
        if (!step.resumed) return step.suspend({ question: "Well?" });
        const { workflowId, nodeId, idempotencyKey: key } = step;
        const call = randomUUID();
        write({ what: "called", workflowId, nodeId, key, call });
        return { data: { key, call } };
      },
    }),
  };
}

function block(forMs: number): void {
  const until = performance.now() + forMs;
  while (performance.now() < until);
}

/** The stable part of what went wrong. */
export function codeOf(thrown: unknown): string {
  const { code, name } = (thrown ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : String(thrown);
}

/** Nodes that have no effect of their own: their output is what came to them. */
export const passingNodes: ReadonlySet<string> = new Set(
  loadWorkflows.flatMap(({ nodes }) => nodes.filter(({ type }) => type === "wait").map(({ id }) => id)),
);
