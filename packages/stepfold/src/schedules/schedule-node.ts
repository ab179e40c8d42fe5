import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { scheduleWorkflowId } from "../core/values/ids/reserved-ids.ts";
import { type Json, sizeOfJson } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";
import { RetryAfterError } from "../engine/node/retry-after-error.ts";
import type { StepContext } from "../engine/node/step-context.ts";
import { type ScheduleHost, scheduleSignal } from "../runtime/context/schedule-host.ts";
import { absorb } from "./commands.ts";
import { decideTicks, type StartCheck } from "./decide-ticks.ts";
import { isOver, readState, type ScheduleState, wakeOf } from "./state.ts";

/**
 * The workflow of which every schedule is an execution: one node with an edge to itself. It must never change, because executions are
 * pinned to it.
 */
export const scheduleWorkflow: WorkflowDefinition = {
  id: scheduleWorkflowId,
  start: "tick",
  nodes: [{ id: "tick", type: "schedule", keep: 1, incident: true }],
  edges: [{ source: "tick", target: "tick" }],
};

/**
 * Steps after which the next run of a schedule begins, so that its history can be trimmed: about a thousand ticks. It does so earlier if a
 * quarter of the limit `steps` is less, but not before it can have decided something.
 */
const maxSteps = 3_000;
const minSteps = 10;
/** From this number of waiting commands on, the schedule applies them at once, together with the ticks before them. */
const maxCommands = 20;
/** How long a schedule that is over waits before each try to end. By then its last starts are usually made, or were refused. */
const restMs = 200;
/**
 * The attempt at which a tick is refused if the worker does not know its workflow. At earlier attempts the tick is left to another worker.
 */
const maxAttempts = 8;
/** The longest delay between these attempts, in milliseconds. */
const maxDelayMs = 60_000;

/**
 * Makes the node of schedules. Its state is the payload of its last wait; if it has not waited, its last output; at the beginning, the
 * input of the execution.
 *
 * A signal only changes the state. When the time comes for which the node waits, it decides for this time. By then it knows all earlier
 * commands, because a new wait first takes all signals that were kept. The requests to start or cancel executions are in the same commit as
 * the new state.
 */
export function scheduleNode(host: Pick<ScheduleHost, "problemOf" | "limits">): NodeDefinition {
  const { steps, timerMs, valueBytes } = host.limits;
  const stepsAtMost = Math.max(minSteps, Math.min(maxSteps, Math.floor(steps / 4)));
  // many large commands fill the state before they are many
  const areFew = (commands: ScheduleState["commands"]): boolean =>
    commands.length < maxCommands && sizeOfJson(commands as unknown as Json) < valueBytes / 4;
  return defineNode({
    retryPolicy: { maxAttempts: maxAttempts + 2, interval: "1s", backoff: "exponential", maxInterval: "1m" },
    metadata: { label: "Schedule", icon: "calendar-clock", description: "Starts executions at certain times", category: "time" },
    executor(_data, step) {
      const { resumed } = step;
      const held = readState(resumed ? resumed.suspendPayload : step.incoming);
      if (!held) throw new StepfoldError("OPTION_INVALID", { option: "input", reason: "must be the state of a schedule" });
      const state = { ...held, steps: held.steps + 1 };
      const wait = (waiting: ScheduleState): never => {
        const [wakeAt, now] = [wakeOf(waiting), step.now()];
        if (wakeAt === null) return step.suspend(waiting, { signal: scheduleSignal });
        const horizon = Math.min(isOver(waiting) ? now + restMs : Math.max(wakeAt, now), now + timerMs);
        return step.suspend({ ...waiting, horizon }, { signal: scheduleSignal, resumeAt: horizon });
      };
      const isSignal = resumed?.by === "signal";
      const known = isSignal ? absorb(state, resumed.payload) : state;
      if (state.steps > stepsAtMost) return { continueAs: { input: { ...known, steps: 0 } } };
      if (!resumed || (isSignal && areFew(known.commands))) return wait(known);
      const { state: after, sends } = decideTicks(isSignal ? atLastCommand(known) : known, step.now(), startCheckOf(host, step));
      if (sends.length > 0) return { data: after, __sends: sends };
      // it does not end while a start is still to be made, which may be refused, nor if it was told something while this step ran
      if (isOver(after)) return { data: after, terminate: true, __unlessSignalled: scheduleSignal };
      return wait(after);
    },
  });
}

/** Moves the horizon to the time of the last command, so that the ticks before it are decided too. */
function atLastCommand(state: ScheduleState): ScheduleState {
  return { ...state, horizon: state.commands.at(-1)!.at };
}

/**
 * Returns the check of starts. Another worker may know a workflow that this one does not know, so the step is retried before the tick is
 * refused.
 */
function startCheckOf({ problemOf }: Pick<ScheduleHost, "problemOf">, { attempt }: StepContext): StartCheck {
  return (workflow, input) => {
    const problem = problemOf(workflow, input);
    if (problem?.code === "DEFINITION_UNKNOWN" && attempt < maxAttempts)
      throw new RetryAfterError(Math.min(2 ** attempt * 500, maxDelayMs), problem.message, { cause: problem });
    return problem && { code: problem.code, message: problem.message };
  };
}
