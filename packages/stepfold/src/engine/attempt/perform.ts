import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ScopeDraft } from "../../core/transition/draft/draft.ts";
import type { Task } from "../../core/transition/plan.ts";
import { taskScope } from "../../core/transition/task-scope.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import { evaluatedJson } from "../../core/values/to-json.ts";
import type { Deadline } from "../../environment/system-environment.ts";
import type { NodeOutput } from "../node/node-definition.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { deniedGlobal } from "../workflow/global-reads.ts";
import type { PreparedNode } from "../workflow/prepared-node.ts";
import { validatorOf } from "../workflow/validator.ts";
import type { AttemptContext, AttemptState } from "./attempt-state.ts";
import { checkGuards } from "./check-guards.ts";
import { failureOf } from "./failure.ts";
import { settingMs } from "./node-times.ts";
import type { Outcome } from "./outcome.ts";
import { readOutput } from "./read-output.ts";
import { refusalOutcome } from "./refusal.ts";
import { Step } from "./step.ts";
import { suspensionOf } from "./suspension.ts";

/** One attempt. */
export interface Attempt {
  /** Null while the attempt is in progress. */
  readonly outcome: Outcome | null;
  /** Aborts the attempt: the executor's signal fires, and its outcome is ignored. */
  readonly abort: (reason: unknown) => void;
}

/**
 * Performs a task: resolves its data, checks it, runs the executor under its timeout, checks what it returned, and evaluates the retry
 * policy if it failed. Never throws.
 *
 * @param settle called once with the outcome, unless the returned attempt has the outcome already
 */
export function perform(
  task: Task,
  node: PreparedNode,
  scopeDraft: ScopeDraft,
  context: AttemptContext,
  startedAt: EpochMs,
  settle: (outcome: Outcome) => void,
): Attempt {
  const scope = taskScope(task, scopeDraft, context.globals);
  const run: AttemptState = {
    task,
    node,
    scopeDraft,
    context,
    startedAt,
    scope,
    settle,
    step: null,
    deadline: null,
    heartbeatDeadline: null,
    over: false,
  };
  const outcome = attempt(run, begin);
  if (outcome) {
    run.over = true;
    cancelDeadlines(run);
  }
  return {
    outcome,
    abort(reason) {
      run.step?.abort(reason);
      end(run, { type: "aborted", startedAt, endedAt: context.now() });
    },
  };
}

function begin(run: AttemptState): Outcome | null {
  const { task, node, context } = run;
  const name = context.globalNames && deniedGlobal(node, context.globalNames);
  if (name) throw new StepfoldError("GLOBAL_DENIED", { nodeId: task.nodeId, name, allowed: context.globalNames! });
  const isOfAttempt = node.timeoutMs !== null && !node.definition.waits;
  const timeoutMs = isOfAttempt ? settingMs(run, "timeout", node.timeoutMs) : context.stepTimeoutMs;
  const data = resolveData(run);
  const { payload, schema } = task.resumed ?? {};
  // there is nothing to check, so no promise is needed
  if (!node.input && payload === undefined && schema === undefined) return execute(run, data, undefined, timeoutMs);
  return awaitThen(run, timeoutMs, check(run, data, payload), (checked) =>
    checked.refused ? refusalOutcome(run, checked.refused) : execute(run, checked.data, checked.payload, timeoutMs),
  );
}

function resolveData({ node, context, task, scope }: AttemptState): Json {
  const { data } = node.compiled;
  if (!data) return node.compiled.constant;
  const blanks: string[] = [];
  const value = data.evaluate(scope(), undefined, blanks);
  checkGuards(node.definition, task.nodeId, value, blanks);
  return evaluatedJson(value, `The data of node "${task.nodeId}"`, context.limits).value;
}

type Checked =
  | { readonly refused: readonly SchemaIssue[] }
  | { readonly refused?: undefined; readonly data: unknown; readonly payload: unknown };

async function check({ node, task, context }: AttemptState, data: Json, payload: Json | undefined): Promise<Checked> {
  const { nodeId } = task;
  const { schema } = task.resumed ?? {};
  // a signal from the inbox was not checked when it came, so its payload is checked against the schema of the wait that has just taken it
  const { issues } = schema === undefined ? {} : await validatorOf(schema)(payload, new CheckBudget(context.limits));
  if (issues) throw new StepfoldError("RESUME_INVALID", { nodeId, issues });
  const checked = node.input ? await node.input(data, new CheckBudget(context.limits)) : { value: data };
  if (checked.issues) throw new StepfoldError("DATA_INVALID", { nodeId, issues: checked.issues });
  const resumed = node.resume && payload !== undefined ? await node.resume(payload, new CheckBudget(context.limits)) : { value: payload };
  // the waits can be opened again, so the wrong answer does not fail the step
  if (resumed.issues && task.resumed?.reopens) return { refused: resumed.issues };
  if (resumed.issues) throw new StepfoldError("RESUME_INVALID", { nodeId, issues: resumed.issues });
  return { data: checked.value, payload: resumed.value };
}

function execute(run: AttemptState, data: unknown, payload: unknown, timeoutMs: number): Outcome | null {
  const { task, node, scopeDraft, context } = run;
  const step = new Step(context, task, payload, scopeDraft, node.policy !== null, heartbeatOf(run));
  run.step = step;
  const definition = context.intercept?.(node.definition, task, node.compiled.node.type) ?? node.definition;
  const returned = definition.executor(data, step);
  return isPromise(returned)
    ? awaitThen(run, timeoutMs, returned, (output) => finish(run, output, timeoutMs))
    : finish(run, returned, timeoutMs);
}

/**
 * Returns the function that is called for each heartbeat of the step: it tells plugins, and restarts the heartbeat timeout of the node.
 * Null if there is neither a plugin nor a timeout.
 */
function heartbeatOf(run: AttemptState): ((progress: unknown) => void) | null {
  const { task, node, context } = run;
  const { onHeartbeat, deadlines } = context;
  const { heartbeatMs } = node.compiled;
  const { type } = node.compiled.node;
  if (heartbeatMs === null) return onHeartbeat && ((progress) => onHeartbeat(progress, task, type));
  const silentMs = settingMs(run, "heartbeatTimeout", heartbeatMs);
  const expect = (): Deadline =>
    deadlines.add(silentMs, () => giveUp(run, new StepfoldError("HEARTBEAT_TIMEOUT", { nodeId: task.nodeId, timeoutMs: silentMs })));
  run.heartbeatDeadline = expect();
  return (progress) => {
    if (run.over) return;
    onHeartbeat?.(progress, task, type);
    run.heartbeatDeadline?.cancel();
    run.heartbeatDeadline = expect();
  };
}

function finish(run: AttemptState, returned: NodeOutput, timeoutMs: number): Outcome | null {
  const { suspension } = run.step!;
  if (suspension) return suspensionOf(run, suspension);
  const outcome = readOutput(run, returned);
  return outcome instanceof Promise ? awaitThen(run, timeoutMs, outcome, (checked) => checked) : outcome;
}

/**
 * Calls `next` with the result of `pending`, unless the attempt times out or is aborted before that. Returns null, because the outcome is
 * not known yet.
 */
function awaitThen<T>(run: AttemptState, timeoutMs: number, pending: Promise<T>, next: (value: T) => Outcome | null): null {
  // code has no limit of its own: each of its steps has one
  if (timeoutMs !== Number.POSITIVE_INFINITY)
    run.deadline ??= run.context.deadlines.add(timeoutMs, () =>
      giveUp(run, new StepfoldError("STEP_TIMEOUT", { nodeId: run.task.nodeId, timeoutMs })),
    );
  pending.then(
    (value) => {
      if (run.over) return;
      const outcome = attempt(run, () => next(value));
      if (outcome) end(run, outcome);
    },
    (thrown: unknown) => {
      if (!run.over) end(run, outcomeOfThrown(run, thrown));
    },
  );
  return null;
}

/** Ends the attempt with an error while its executor still runs. */
function giveUp(run: AttemptState, error: StepfoldError): void {
  run.step?.abort(error);
  end(run, failureOf(run, error));
}

function end(run: AttemptState, outcome: Outcome): void {
  if (run.over) return;
  run.over = true;
  cancelDeadlines(run);
  run.settle(outcome);
}

/** Removes the deadlines of an attempt that is over. */
function cancelDeadlines(run: AttemptState): void {
  run.deadline?.cancel();
  run.heartbeatDeadline?.cancel();
}

function attempt(run: AttemptState, work: (run: AttemptState) => Outcome | null): Outcome | null {
  try {
    return work(run);
  } catch (thrown) {
    return outcomeOfThrown(run, thrown);
  }
}

/** Returns the outcome for what the executor, or the work around it, threw: the step has suspended, or it has failed. */
function outcomeOfThrown(run: AttemptState, thrown: unknown): Outcome {
  const suspension = run.step?.suspension;
  if (!suspension) {
    run.context.onThrown?.(thrown, run.task, run.node.compiled.node.type);
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
