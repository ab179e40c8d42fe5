import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";
import { RetryAfterError } from "../engine/node/retry-after-error.ts";
import type { StepContext } from "../engine/node/step-context.ts";
import { scheduleSignal, scheduleWorkflowId } from "../runtime/context/latest-schedule.ts";
import type { ScheduleHost } from "../runtime/context/schedule-host.ts";
import { absorb } from "./commands.ts";
import { decideTicks, type Judge } from "./decide-ticks.ts";
import { isOver, readState, type ScheduleState, wakeOf } from "./state.ts";

/** The workflow that every schedule is an execution of: one node that comes to itself again and again. It never changes: executions are pinned to it. */
export const scheduleWorkflow: WorkflowDefinition = {
  id: scheduleWorkflowId,
  start: "tick",
  nodes: [{ id: "tick", type: "schedule", keep: 1, incident: true }],
  edges: [{ source: "tick", target: "tick" }],
};

/** Steps after which a schedule goes on as a new execution: about a thousand ticks. */
const maxSteps = 3_000;
/** Commands that are kept before they are applied, with the ticks before them. */
const maxCommands = 20;
/** How often a worker that does not know the workflow leaves a tick to another one, before the tick counts as refused. */
const maxAttempts = 8;
const maxDelayMs = 60_000;

/**
 * The node of schedules. Its state is what it last waited with, else what it last gave, else the input of the execution.
 *
 * What it is told only changes the state. When the time comes that it waits for it decides, for that time: a wait begins with all
 * signals that are there, so it knows everything that was said before. Whatever it starts leaves with the very commit that holds the new state.
 */
export function scheduleNode(host: Pick<ScheduleHost, "problemOf" | "limits">): NodeDefinition {
  const stepsAtMost = Math.max(1, Math.min(maxSteps, Math.floor(host.limits.steps / 4)));
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
        const horizon = Math.min(Math.max(wakeAt, now), now + host.limits.timerMs);
        return step.suspend({ ...waiting, horizon }, { signal: scheduleSignal, resumeAt: horizon });
      };
      if (!resumed) return wait(state);
      const isSignal = resumed.by === "signal";
      const known = isSignal ? absorb(state, resumed.payload) : state;
      if (isSignal && known.commands.length < maxCommands) return wait(known);
      if (state.steps > stepsAtMost) return { continueAs: { input: { ...known, steps: 0 } } };
      const { state: after, sends } = decideTicks(isSignal ? atLastCommand(known) : known, step.now(), judgeFor(host, step));
      if (sends.length > 0) return { data: after, __sends: sends };
      // what was said while this step ran is committed already: it is for this execution
      if (isOver(after)) return { data: after, terminate: true, __unlessSignalled: scheduleSignal };
      return wait(after);
    },
  });
}

function atLastCommand(state: ScheduleState): ScheduleState {
  return { ...state, horizon: state.commands.at(-1)!.at };
}

/** A workflow that this worker does not know may be known to another one: the step is tried again before the tick is refused. */
function judgeFor({ problemOf }: Pick<ScheduleHost, "problemOf">, { attempt }: StepContext): Judge {
  return (workflow, input) => {
    const problem = problemOf(workflow, input);
    if (problem?.code === "DEFINITION_UNKNOWN" && attempt < maxAttempts)
      throw new RetryAfterError(Math.min(2 ** attempt * 500, maxDelayMs), problem.message, { cause: problem });
    return problem && { code: problem.code, message: problem.message };
  };
}
