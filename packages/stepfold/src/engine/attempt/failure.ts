import { type CompiledPolicy, evaluatePolicy } from "../../core/definition/compiled-policy.ts";
import { noRetry, retryDelayMs } from "../../core/definition/retry.ts";
import { type ErrorInfo, errorInfo, stackOf } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import { isFatal } from "../node/fatal-error.ts";
import { retryAfterMs } from "../node/retry-after-error.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { Outcome } from "./outcome.ts";

/** Decides what follows a failed attempt: a retry at a certain time, the `error` edge, or the end of the execution. */
export function failureOf(run: AttemptState, thrown: unknown): Outcome {
  const { task, node, around, startedAt } = run;
  const endedAt = around.now();
  const info = withHint(errorInfo(thrown, task.nodeId, around.scrub), run, thrown);
  const stack = around.keepStacks ? stackOf(thrown, around.scrub) : undefined;
  let error: ErrorInfo = stack === undefined ? info : Object.freeze({ ...info, stack });
  let delayMs: number | null = null;
  try {
    if (mayRetry(thrown)) delayMs = retryDelay(run, node.policy, thrown, error, endedAt);
  } catch (refused) {
    const { name, message, code } = errorInfo(refused, task.nodeId, around.scrub);
    error = Object.freeze({ name, code: code!, message: `${message} (after: ${error.message})`, nodeId: task.nodeId });
  }
  const outcome = {
    type: "failed" as const,
    error,
    sizeBytes: error.message.length + (error.stack?.length ?? 0),
    startedAt,
    endedAt,
    retryAt: delayMs === null ? null : endedAt + Math.min(delayMs, around.limits.timerMs),
    ...(run.step === null && { uncalled: true as const }),
  };
  around.onFailed?.(thrown, task, outcome);
  return delayMs === null && !task.undoes && node.compiled.edges.has("error") ? { ...outcome, handle: "error" } : outcome;
}

/** A member of globals that were never given is read from undefined: the platform's message does not say so. */
function withHint(error: ErrorInfo, { step }: AttemptState, thrown: unknown): ErrorInfo {
  if (!step?.missesGlobals || !(thrown instanceof TypeError) || !/undefined/.test(error.message)) return error;
  return Object.freeze({ ...error, message: `${error.message}. The node has read "globals", and none were given` });
}

/** Whether an error can be retried. A StepfoldError says so itself. */
function mayRetry(thrown: unknown): boolean {
  return !isFatal(thrown) && (!StepfoldError.is(thrown) || thrown.retryable);
}

function retryDelay(run: AttemptState, policy: CompiledPolicy | null, thrown: unknown, error: ErrorInfo, now: number): number | null {
  const { task, around } = run;
  const scope = { ...run.scope(), error, attempt: task.attempt };
  const rule = policy ? evaluatePolicy(policy, scope, task.nodeId) : noRetry;
  const delayMs = retryDelayMs(rule, task.attempt, `${around.workflowId}/${scopedKey(task.scope ?? "", task.pathId)}#${task.visit}`);
  if (delayMs === null || (policy?.retryIf && !policy.retryIf.evaluate(scope))) return null;
  return retryAfterMs(thrown, now) ?? delayMs;
}
