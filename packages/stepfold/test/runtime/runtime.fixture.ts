import { expect } from "vitest";
import type { WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { Commit, SnapshotStore } from "../../src/ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../src/runtime/context/runtime-options.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import type { Run } from "../../src/runtime/handle/run.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { watching } from "../testing/watching.fixture.ts";

export const second = 1_000;
export const hour = 3_600 * second;
const open: Runtime[] = [];

/** Closes all runtimes of a test. It does not wait for them, because the virtual time stands still after the test. */
export function closeAll(): void {
  for (const runtime of open.splice(0)) void runtime.close({ timeoutMs: 1 });
}

/** The calls of executors: the idempotency key for each call of `say`, and `attempt <number>` for each call of `flaky`. */
export const calls: string[] = [];
/** Node types: `say` completes, `ask` waits for an answer, `sleep` for a time, `flaky` fails twice, `stuck` runs until it is aborted. */
export const nodeDefinitions = {
  say: defineNode({
    executor: (data, step) => {
      calls.push(step.idempotencyKey);
      return { data };
    },
  }),
  ask: defineNode({
    resume: { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] },
    executor: (data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend(data)),
  }),
  sleep: defineNode({
    executor: (_data, step) => (step.resumed ? { data: "slept" } : { __pause: true, resumeAt: (step.input as { until: number }).until }),
  }),
  flaky: defineNode({
    retryPolicy: { maxAttempts: 3, interval: "10s", backoff: "exponential" },
    executor: (_data, step) => {
      calls.push(`attempt ${step.attempt}`);
      if (step.attempt < 3) throw new Error("not yet");
      return { data: "done" };
    },
  }),
  stuck: defineNode({
    executor: (_data, step) => new Promise((_, reject) => step.signal.addEventListener("abort", () => reject(step.signal.reason))),
  }),
};

/** A workflow of nodes in a line. The ids are the types with their places: `say0`, `ask1`, ... */
export const line = (id: string, ...types: string[]): WorkflowDefinition => ({
  id,
  nodes: types.map((type, i) => ({ id: `${type}${i}`, type, data: { text: type } })),
  edges: types.slice(1).map((type, i) => ({ source: `${types[i]}${i}`, target: `${type}${i + 1}` })),
});

/** A runtime on a virtual clock. */
export function setUp(more: Partial<RuntimeOptions> = {}, environment = virtualEnvironment()) {
  calls.length = 0;
  const store = more.store ?? memoryStore({ now: () => environment.now() });
  const runtime =
    open[
      open.push(
        createRuntime({
          store,
          nodeDefinitions,
          environment,
          workflows: [line("talk", "say", "ask", "say"), line("nap", "sleep", "say"), line("try", "flaky"), line("hang", "say", "stuck")],
          ...more,
          plugins: [...watching(), ...(more.plugins ?? [])],
        }),
      ) - 1
    ]!;
  return { environment, store, runtime };
}

/** The environment of a process that can die. After `die` its timers never fire, and its claims stay until their leases end. */
export function dying(environment: VirtualEnvironment) {
  let alive = true;
  return {
    die: () => {
      alive = false;
    },
    environment: {
      ...environment,
      after: (delayMs: number, callback: () => void) => environment.after(delayMs, () => alive && callback()),
    },
  };
}

/** Options of a runtime whose process makes `commits` commits, and dies in the next one before the store has taken it. */
export function dyingInCommit(
  commits: number,
  store: SnapshotStore,
  environment: VirtualEnvironment,
): Required<Pick<RuntimeOptions, "store" | "environment">> {
  const mortal = dying(environment);
  let left = commits;
  const counting = {
    ...store,
    commit: async (commit: Commit) => {
      if (left-- <= 0) return new Promise<void>(() => mortal.die());
      return store.commit(commit);
    },
  };
  return { store: counting, environment: mortal.environment };
}

/**
 * Restarts an execution that waits in a line with a deadline of five seconds, and forks it: both wait in the line again, and fail at their new
 * deadlines. The id of the fork is `fork`.
 */
export async function restartAndForkInLine(run: Run, environment: VirtualEnvironment): Promise<void> {
  await environment.advance(7 * second);
  await run.restart();
  const both = [run, await run.fork({ workflowId: "fork" })];
  await environment.advance(3 * second);
  for (const one of both) expect((await one.snapshot()).status).toBe("active");
  await environment.advance(4 * second);
  for (const one of both) expect(await one.snapshot()).toMatchObject({ status: "failed", error: { code: "EXECUTION_TIMED_OUT" } });
}
