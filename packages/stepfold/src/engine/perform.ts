import { evaluateDuration } from "../core/compiled-policy.ts";
import type { Draft } from "../core/draft.ts";
import type { Json } from "../core/json.ts";
import type { Task } from "../core/plan.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { normalise } from "../core/to-json.ts";
import type { AttemptState, Performing } from "./attempt-state.ts";
import { failureOf } from "./failure.ts";
import type { NodeOutput } from "./node-definition.ts";
import type { Outcome } from "./outcome.ts";
import type { PreparedNode } from "./prepared-node.ts";
import { readOutput } from "./read-output.ts";
import { Step } from "./step.ts";
import { suspensionOf } from "./suspension.ts";
import { taskScope } from "./task-scope.ts";

/** One attempt under way. */
export interface Attempt {
  readonly task: Task;
  readonly outcome: Outcome | Promise<Outcome>;
  /** Ends it without an outcome that counts: the executor's signal fires, and nobody waits for it. */
  readonly abort: (reason: unknown) => void;
}

/**
 * Performs a task: resolves its data, checks it, runs the executor under its timeout, checks what it returned, and
 * evaluates the retry policy if it failed. Never throws, and never rejects.
 */
export function perform(task: Task, node: PreparedNode, draft: Draft, around: Performing): Attempt {
  const startedAt = around.now();
  const run: AttemptState = {
    task,
    node,
    around,
    startedAt,
    scope: taskScope(task, draft, around.globals),
    step: null,
    interrupt: null,
    over: false,
  };
  const outcome = guard(run, () => {
    const timeoutMs = node.timeoutMs === null ? around.stepTimeoutMs : evaluateDuration(node.timeoutMs, run.scope());
    const data = resolveData(run);
    const payload = task.resumed?.payload;
    if (!node.input && payload === undefined) return execute(run, draft, data, undefined, timeoutMs);
    return untilSettled(run, timeoutMs, afterChecks(run, draft, data, payload, timeoutMs), (outcome) => outcome);
  });
  return {
    task,
    outcome,
    abort(reason) {
      run.step?.abort(reason);
      run.interrupt?.({ type: "aborted", startedAt, endedAt: around.now() });
    },
  };
}

function guard(run: AttemptState, work: () => Outcome | Promise<Outcome>): Outcome | Promise<Outcome> {
  try {
    const outcome = work();
    return outcome instanceof Promise ? outcome.catch((thrown: unknown) => ended(run, thrown)) : outcome;
  } catch (thrown) {
    return ended(run, thrown);
  }
}

function resolveData({ node, around, task, scope }: AttemptState): Json {
  const { data } = node.compiled;
  if (!data) return node.compiled.node.data ?? null;
  const value = data.evaluate(scope());
  return value === undefined ? null : normalise(value, `The data of node "${task.nodeId}"`, around.limits).value;
}

async function afterChecks(run: AttemptState, draft: Draft, data: Json, payload: Json | undefined, timeoutMs: number): Promise<Outcome> {
  const { node, task } = run;
  const nodeId = task.nodeId;
  const checked = node.input ? await node.input(data) : { value: data };
  if (checked.issues) throw new StepfoldError("DATA_INVALID", { nodeId, issues: checked.issues });
  const resumed = node.resume && payload !== undefined ? await node.resume(payload) : { value: payload };
  if (resumed.issues) throw new StepfoldError("RESUME_INVALID", { nodeId, issues: resumed.issues });
  // a check may take longer than the step has, or than anybody waits
  if (run.over) throw new StepfoldError("STEP_TIMEOUT", { nodeId, timeoutMs });
  return execute(run, draft, checked.value, resumed.value, timeoutMs);
}

function execute(run: AttemptState, draft: Draft, data: unknown, payload: unknown, timeoutMs: number): Outcome | Promise<Outcome> {
  const { task, node, around } = run;
  const { onHeartbeat } = around;
  const step = new Step(around, task, payload, draft.context, draft.version, onHeartbeat && ((progress) => onHeartbeat(progress, task)));
  run.step = step;
  const returned = node.definition.executor(data, step);
  return isPromise(returned) ? untilSettled(run, timeoutMs, returned, (output) => finish(run, output)) : finish(run, returned);
}

/** Waits for what is under way, its deadline or an interruption, whichever comes first. */
function untilSettled<T>(
  run: AttemptState,
  timeoutMs: number,
  pending: Promise<T>,
  finished: (value: T) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const { around, task } = run;
  return new Promise((resolve) => {
    const end = (outcome: Outcome | Promise<Outcome>): void => {
      relax();
      run.over = true;
      resolve(outcome);
    };
    const relax = around.deadlines.add(timeoutMs, () => {
      const error = new StepfoldError("STEP_TIMEOUT", { nodeId: task.nodeId, timeoutMs });
      run.step?.abort(error);
      end(failureOf(run, error));
    });
    run.interrupt = end;
    pending.then(
      (value) => end(guard(run, () => finished(value))),
      (thrown: unknown) => end(ended(run, thrown)),
    );
  });
}

function finish(run: AttemptState, returned: NodeOutput): Outcome | Promise<Outcome> {
  const { suspension } = run.step!;
  if (suspension) return suspensionOf(run, suspension);
  return readOutput(run, returned);
}

/** The executor threw: because it suspended, or because it failed. */
function ended(run: AttemptState, thrown: unknown): Outcome {
  const suspension = run.step?.suspension;
  if (!suspension) {
    run.around.onThrown?.(thrown, run.task);
    return failureOf(run, thrown);
  }
  try {
    return suspensionOf(run, suspension);
  } catch (refused) {
    return failureOf(run, refused);
  }
}

/** Only native promises are awaited: any other object with a `then` might never call back. */
function isPromise(value: unknown): value is Promise<NodeOutput> {
  return value instanceof Promise || Object.prototype.toString.call(value) === "[object Promise]";
}
