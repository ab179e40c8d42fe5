import type { ChildEnd } from "../core/snapshot/parts/message.ts";
import { durationMs } from "../core/values/duration.ts";
import { ChildFailure } from "../engine/node/child-failure.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";
import type { Schema } from "../engine/node/standard-schema.ts";
import type {
  DetachedOptions,
  MapOptions,
  QuorumOptions,
  RunningStep,
  SentSignal,
  SignalWaitOptions,
  StepWaitOptions,
} from "./durable-step.ts";

// What performs each kind of step that durable code asks for.

/** A step that runs a function. */
export function running(perform: (step: RunningStep) => unknown): NodeDefinition {
  return {
    executor(_data, step) {
      const value = perform(step);
      return value instanceof Promise ? value.then(given) : given(value);
    },
  };
}

function given(value: unknown): { readonly data: unknown } {
  return { data: value === undefined ? null : value };
}

/** A step that waits until a time, which is computed when it first runs. */
export function sleeping(until: (now: number) => number): NodeDefinition {
  return {
    __yields: true,
    executor: (_data, step) => step.suspend(undefined, { resumeAt: until(step.now()) }),
  };
}

/** A step that waits for an answer. After its timeout the answer is null. */
export function answered(schema: Schema | undefined, options: StepWaitOptions & Partial<QuorumOptions>): NodeDefinition {
  const { timeout, responders, quorum, tally, payload } = options;
  return {
    ...(schema !== undefined && { resume: schema }),
    __yields: quorum === undefined,
    executor(_data, step) {
      const { resumed } = step;
      if (resumed) return { data: resumed.by === "timer" ? null : quorum === undefined ? (resumed.payload ?? null) : resumed.answers };
      return step.suspend(payload, {
        ...(schema === undefined && { schema: true }),
        ...{ responders, quorum, tally },
        ...(timeout !== undefined && { resumeAt: step.now() + durationMs(timeout) }),
      });
    },
  };
}

/** A step that waits for a signal. After its timeout the payload is null. */
export function signalled(schema: Schema | undefined, name: string, { timeout, key, transient }: SignalWaitOptions): NodeDefinition {
  return {
    ...(schema !== undefined && { resume: schema }),
    __yields: true,
    executor(_data, step) {
      const { resumed } = step;
      if (resumed) return { data: resumed.by === "timer" ? null : (resumed.payload ?? null) };
      return step.suspend(undefined, {
        ...{ signal: name, key, transient },
        ...(timeout !== undefined && { resumeAt: step.now() + durationMs(timeout) }),
      });
    },
  };
}

/** A step that starts another workflow as an execution of its own. */
export function detached(
  workflow: string,
  input: unknown,
  { wait, workflowId }: DetachedOptions & { readonly wait?: boolean },
): NodeDefinition {
  return {
    waits: true,
    executor(_data, { resumed }) {
      if (resumed?.by !== "child") return { __children: { ...{ workflow, input, detached: true, wait, workflowId } } };
      const end = resumed.payload as unknown as ChildEnd;
      if (end.status !== "completed") throw new ChildFailure(end);
      return { data: end.output ?? null };
    },
  };
}

/** A step that runs another workflow as a part of this execution. */
export function called(workflow: string, input: unknown): NodeDefinition {
  return { waits: true, executor: () => ({ __children: { workflow, input } }) };
}

/** A step that runs another workflow for each item. */
export function mapped(workflow: string, items: readonly unknown[], { timeout: _, ...options }: MapOptions): NodeDefinition {
  return { waits: true, executor: () => ({ __children: { workflow, map: { items, ...options } } }) };
}

/** A step that sends a signal to another execution. */
export function sent({ to, signal: name, payload, key, ttl }: SentSignal): NodeDefinition {
  return {
    waits: true,
    executor(_data, { resumed }) {
      if (resumed?.by !== "delivery") return { __signal: { to, name, payload, key, ttl } };
      const end = resumed.payload as unknown as ChildEnd;
      if (end.error) throw new ChildFailure(end);
      return { data: null };
    },
  };
}

/** A step that changes metadata of the execution. */
export function tagged(patch: Readonly<Record<string, unknown>>): NodeDefinition {
  return {
    executor(_data, step) {
      step.setMetadata(patch);
      return { data: null };
    },
  };
}
