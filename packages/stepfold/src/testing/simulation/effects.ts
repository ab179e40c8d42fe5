import { canonicalJson } from "../../core/values/canonical-json.ts";
import type { Json } from "../../core/values/json.ts";
import type { Intercept } from "../../engine/attempt/intercept.ts";
import { CodeRun } from "../../engine/code/code-run.ts";
import type { CodeContext } from "../../engine/node/asking.ts";
import type { NodeDefinition, NodeOutput } from "../../engine/node/node-definition.ts";
import type { StepContext } from "../../engine/node/step-context.ts";
import type { Faults } from "./machines/faults.ts";
import type { Machine } from "./machines/machine.ts";
import type { Random } from "./random.ts";

/**
 * An executor throws this in a promise to end its whole process at once, which simulates a step that runs out of memory. Executors
 * that are not async cannot do this.
 */
export class ProcessDeath {}

/** One call of an executor. */
export interface Effect {
  readonly workflowId: string;
  readonly nodeId: string;
  readonly pathId: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Why a suspended step runs again, as JSON text; empty the first time. */
  readonly resumed: string;
  readonly isCompensation: boolean;
  readonly machine: string;
  readonly atMs: number;
}

/** What the observed executors need from the schedule. */
export interface ScheduleSetting {
  readonly faults: Faults;
  readonly random: Random;
  readonly nowMs: () => number;
  /** The shortest time of a slow step, in milliseconds: a whole lease. */
  readonly longMs: number;
  readonly onEffect: (effect: Effect) => void;
  /** Called if one process runs two executors for the same step at the same time, and has not told the first one to end. */
  readonly onTwice: (step: StepContext) => void;
  /** Called when the code of a workflow begins to run. Returns the number of the run. */
  readonly onCode: (run: CodeRun, step: StepContext, machine: Machine) => number;
}

/**
 * Before an executor runs, a step waits twice: before its call is recorded, and after that. This is the longest of these times, in
 * milliseconds; the second one is longer for a slow step.
 */
const maxStepMs = 30;
/** The share of calls that take no virtual time. */
const shareAtOnce = 0.25;

/**
 * Returns what one process does with each task: every call of an executor is recorded outside of all processes, and most take time. The code of a
 * workflow takes none itself.
 */
export function observing(machine: Machine, setting: ScheduleSetting): Intercept {
  const running: Running = new Map();
  return (definition) => observedNode(definition, machine, setting, running);
}

/** The steps that are running in one process, by execution and path. */
type Running = Map<string, StepContext>;

function observedNode(definition: NodeDefinition, machine: Machine, setting: ScheduleSetting, running: Running): NodeDefinition {
  const { random, faults, longMs, onEffect, onTwice, onCode, nowMs } = setting;
  const watchingForTwice = async (step: StepContext, work: () => Promise<NodeOutput>): Promise<NodeOutput> => {
    const name = `${step.workflowId} ${step.pathId}`;
    if (running.get(name)?.signal.aborted === false) onTwice(step);
    running.set(name, step);
    try {
      return await work();
    } finally {
      if (running.get(name) === step) running.delete(name);
    }
  };
  const withVirtualTime = async (data: unknown, step: StepContext): Promise<NodeOutput> => {
    await machine.sleep(random.between(0, maxStepMs));
    onEffect(effectOf(step, machine, nowMs()));
    await machine.sleep(faults.happens("slowStep") ? random.between(longMs, 2 * longMs) : random.between(0, maxStepMs));
    return await definition.executor(data, step);
  };
  return {
    ...definition,
    executor(data, step: StepContext & CodeContext) {
      const { "~asking": asking } = step;
      if (asking instanceof CodeRun) {
        // the code runs as often as it likes, so each of its runs is a call of its own
        onEffect({ ...effectOf(step, machine, nowMs()), resumed: `run ${onCode(asking, step, machine)}` });
        return watchingForTwice(step, async () => await definition.executor(data, step));
      }
      if (!random.chance(shareAtOnce))
        return orDie(
          machine,
          watchingForTwice(step, () => withVirtualTime(data, step)),
        );
      onEffect(effectOf(step, machine, nowMs()));
      const output = definition.executor(data, step);
      return output instanceof Promise ? orDie(machine, output as Promise<NodeOutput>) : output;
    },
  };
}

/** Returns the result of the executor, or a promise that never settles if the executor has ended its process. */
async function orDie<T>(machine: Machine, output: Promise<T>): Promise<T> {
  try {
    return await output;
  } catch (error) {
    if (!(error instanceof ProcessDeath)) throw error;
    machine.end();
    return new Promise<never>(() => undefined);
  }
}

function effectOf(step: StepContext, machine: Machine, atMs: number): Effect {
  const { workflowId, nodeId, pathId, attempt, idempotencyKey, resumed, compensating } = step;
  return {
    workflowId,
    nodeId,
    pathId,
    attempt,
    idempotencyKey,
    resumed: resumed === undefined ? "" : canonicalJson(resumed as unknown as Json),
    isCompensation: compensating !== undefined,
    machine: machine.name,
    atMs,
  };
}
