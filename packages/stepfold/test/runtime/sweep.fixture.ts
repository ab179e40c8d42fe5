import { expect } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { WakeUp, WorkQueue } from "../../src/ports/work-queue.ts";
import type { RuntimeOptions } from "../../src/runtime/context/runtime-options.ts";
import type { VirtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { hour, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";

export const minute: number = 60 * second;

/** A queue that only keeps the wake-ups that are sent. */
export function keepingQueue(more: Partial<WorkQueue> = {}) {
  const sent: WakeUp[] = [];
  const send: WorkQueue["send"] = async (wakeUps) => void sent.push(...wakeUps);
  const features = { durable: true, multiProcess: true };
  const consume = (): Promise<never> => Promise.reject(new TypeError("a function consumes nothing"));
  const queue: WorkQueue = { name: "kept", features, send, consume, close: async () => undefined, ...more };
  return { queue, sent, ids: () => sent.map(({ workflowId }) => workflowId) };
}

/** Node types that take 2 s (`slow`) and 1 h (`deaf`), with the ids of the executions whose steps have begun or were aborted. */
export function slowSteps(environment: VirtualEnvironment) {
  const aborted: string[] = [];
  const begun: string[] = [];
  const rest = (ms: number, of: string) =>
    defineNode({
      executor: async (_data, { workflowId, signal }) => {
        begun.push(workflowId);
        signal.addEventListener("abort", () => aborted.push(workflowId));
        await new Promise<void>((resolve) => void environment.after(ms, resolve));
        return { data: of };
      },
    });
  const nodes = { ...nodeDefinitions, slow: rest(2 * second, "slow"), deaf: rest(hour, "deaf") };
  return { nodes, aborted, begun };
}

/** A runtime that drives nothing by itself. */
export function serverless(environment: VirtualEnvironment, more: Partial<RuntimeOptions> = {}) {
  return setUp({ drive: false, ...more }, environment);
}

/** Advances the clock by `ms`, in which the sweep must end, and returns what it gives. */
export async function swept<T>(environment: VirtualEnvironment, ms: number, sweeping: Promise<T>): Promise<T> {
  let isDone = false;
  const done = sweeping.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  await environment.advance(ms);
  expect(isDone, `the sweep is over after ${ms} ms`).toBe(true);
  return done;
}
