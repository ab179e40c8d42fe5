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
  const startedAt = around.environment.now();
  const scope = taskScope(task, draft, around.globals);
  const run: AttemptState = { task, node, around, startedAt, scope, step: null, interrupt: null };
  const outcome = guard(run, () => {
    const data = resolveData(run);
    const checks = node.input || task.resumed?.payload !== undefined;
    return checks ? afterChecks(run, draft, data) : execute(run, draft, data, task.resumed?.payload);
  });
  return {
    task,
    outcome,
    abort(reason) {
      run.step?.abort(reason);
      run.interrupt?.({ type: "aborted", startedAt, endedAt: around.environment.now() });
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

async function afterChecks(run: AttemptState, draft: Draft, data: Json): Promise<Outcome> {
  const { node, task } = run;
  const nodeId = task.nodeId;
  let checked: unknown = data;
  if (node.input) {
    const result = await node.input(data);
    if (result.issues) throw new StepfoldError("DATA_INVALID", { nodeId, issues: result.issues });
    checked = result.value;
  }
  let payload: unknown = task.resumed?.payload;
  if (payload !== undefined && node.resume) {
    const result = await node.resume(payload);
    if (result.issues) throw new StepfoldError("RESUME_INVALID", { nodeId, issues: result.issues });
    payload = result.value;
  }
  return execute(run, draft, checked, payload);
}

function execute(run: AttemptState, draft: Draft, data: unknown, payload: unknown): Outcome | Promise<Outcome> {
  const { task, node, around } = run;
  const { onHeartbeat } = around;
  const step = new Step(around, task, payload, draft.context, draft.version, onHeartbeat && ((progress) => onHeartbeat(progress, task)));
  run.step = step;
  const returned = node.definition.executor(data, step);
  return isPromise(returned) ? untilSettled(run, returned) : finish(run, returned);
}

/** Waits for the executor, its deadline or an interruption, whichever comes first. */
function untilSettled(run: AttemptState, returned: Promise<NodeOutput>): Promise<Outcome> {
  const { node, around, task, scope } = run;
  const timeoutMs = node.timeoutMs === null ? around.stepTimeoutMs : evaluateDuration(node.timeoutMs, scope());
  return new Promise((resolve) => {
    const relax = around.deadlines.add(timeoutMs, () => {
      const error = new StepfoldError("STEP_TIMEOUT", { nodeId: task.nodeId, timeoutMs });
      run.step!.abort(error);
      resolve(failureOf(run, error));
    });
    run.interrupt = (outcome) => {
      relax();
      resolve(outcome);
    };
    returned.then(
      (output) => {
        relax();
        resolve(guard(run, () => finish(run, output)));
      },
      (thrown: unknown) => {
        relax();
        resolve(ended(run, thrown));
      },
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
