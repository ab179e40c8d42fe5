import type { CompiledNode, CompiledWorkflow } from "../../core/definition/compiled.ts";
import { type CompiledPolicy, evaluatePolicy } from "../../core/definition/compiled-policy.ts";
import { noRetry, retryDelayMs } from "../../core/definition/retry.ts";
import { type ErrorInfo, errorInfo, stackOf } from "../../core/errors/error-info.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import { isJsonObject, type Json, sizeOfJson } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import { stepThrown } from "../code/thrown-step.ts";
import { carriedError } from "../node/child-failure.ts";
import { isFatal } from "../node/fatal-error.ts";
import { retryAfterMs } from "../node/retry-after-error.ts";
import type { Scrub } from "../secrets/scrubber.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { Outcome } from "./outcome.ts";

type Failed = Extract<Outcome, { type: "failed" }>;

/** The largest details of an error that are kept, in bytes. Every event and head that has the error contains its details. */
const maxDetailsBytes = 32_768;

/** Decides what follows a failed attempt: a retry at a certain time, the `error` edge, an incident, or the failure of its scope. */
export function failureOf(run: AttemptState, thrown: unknown): Outcome {
  const { task, node, context, startedAt } = run;
  const endedAt = context.now();
  // the failure of code tells the step whose error it has thrown
  const nodeId = (context.asking && stepThrown(thrown)) ?? task.nodeId;
  const info = withHint(errorInfo(thrown, nodeId, context.scrub), run, thrown);
  const stack = context.keepStacks ? stackOf(thrown, context.scrub) : undefined;
  const carried = carriedError(thrown);
  const details = keptJson(isFatal(thrown) ? safeMember(thrown, "details") : carried?.details, run);
  const cause = keptJson(carried?.cause, run);
  const whole = { ...info, ...(stack !== undefined && { stack }), ...(isCause(cause?.value) && { cause: cause.value }) };
  let error: ErrorInfo = withDetails(Object.freeze(whole), details);
  let delayMs: number | null = null;
  try {
    if (mayRetry(thrown)) delayMs = retryDelay(run, node.policy, thrown, error, endedAt);
  } catch (refused) {
    // the retry policy cannot be evaluated: its error takes the place of the step's error, and quotes it
    const { name, message, code } = errorInfo(refused, task.nodeId, context.scrub);
    error = Object.freeze({ name, code: code!, message: `${message} (after: ${error.message})`, nodeId: task.nodeId });
  }
  const outcome = {
    type: "failed" as const,
    error,
    sizeBytes:
      error.message.length +
      (error.stack?.length ?? 0) +
      (error.details === undefined ? 0 : details!.sizeBytes) +
      (error.cause ? cause!.sizeBytes : 0),
    startedAt,
    endedAt,
    retryAt: delayMs === null ? null : endedAt + Math.min(delayMs, context.limits.timerMs),
    ...(delayMs !== null && carried && { anew: true as const }),
    ...(run.step === null && { uncalled: true as const }),
  };
  context.onFailed?.(thrown, task, node.compiled.node.type, outcome);
  return delayMs !== null || task.undoes ? outcome : unretried(outcome, node.compiled, run.scopeDraft.workflow);
}

/**
 * Completes the outcome of a failure that is not retried: the path leaves by the edge `error`, or after a step timeout by the edge `timeout`
 * if there is one, or becomes an incident and waits for a
 * decision. Without both, the failure stays as it is. The option `incident` of a node overrides that of its workflow.
 */
export function unretried(failed: Failed, { node, edges }: CompiledNode, { definition }: Pick<CompiledWorkflow, "definition">): Failed {
  if (failed.error.code === "STEP_TIMEOUT" && edges.has("timeout")) return { ...failed, handle: "timeout" };
  if (edges.has("error")) return { ...failed, handle: "error" };
  if (!(node.incident ?? definition.incident)) return failed;
  // the error is stored twice: in the event, and in the payload of the wait for the decision
  return { ...failed, incident: true, sizeBytes: failed.sizeBytes + sizeOfJson(failed.error as unknown as Json) };
}

/** A part of an error that the execution keeps, without secrets; a text that says why if it is not JSON or exceeds a limit. Null if there is none. */
function keptJson(part: unknown, { task, context }: AttemptState): { readonly value: Json; readonly sizeBytes: number } | null {
  if (part === undefined) return null;
  try {
    return normalise(clean(normalise(part, `The details of "${task.nodeId}"`, context.limits).value, context.scrub), "", context.limits);
  } catch (refused) {
    return { value: `cannot be kept: ${errorInfo(refused).message}`, sizeBytes: 100 };
  }
}

/** Whether a value is the error of the first failed item of a map. It may come from a row that somebody has changed. */
function isCause(value: unknown): value is NonNullable<ErrorInfo["cause"]> {
  return isJsonObject(value) && typeof value.name === "string" && typeof value.message === "string" && Number.isSafeInteger(value.item);
}

function withDetails(error: ErrorInfo, details: { readonly value: Json; readonly sizeBytes: number } | null): ErrorInfo {
  if (!details) return error;
  if (details.sizeBytes <= maxDetailsBytes) return Object.freeze({ ...error, details: details.value });
  return Object.freeze({ ...error, message: `${error.message} (with details of more than ${maxDetailsBytes} bytes, which are not kept)` });
}

/** Removes secrets from all texts of a value. A very long text is left as it is, because details that contain it are not kept. */
function clean(value: Json, scrub: Scrub): Json {
  if (typeof value === "string") return value.length > maxDetailsBytes ? value : scrub(value);
  if (typeof value !== "object" || value === null) return value;
  if (!isJsonObject(value)) return value.map((item) => clean(item, scrub));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clean(member, scrub)]));
}

/**
 * Adds a hint to a TypeError of a step that read `globals` although none were given: the message of the platform only mentions `undefined`.
 */
function withHint(error: ErrorInfo, { step }: AttemptState, thrown: unknown): ErrorInfo {
  if (!step?.missesGlobals || !(thrown instanceof TypeError) || !/undefined/.test(error.message)) return error;
  return Object.freeze({ ...error, message: `${error.message}. The node has read "globals", and none were given` });
}

/** Whether an error can be retried. A FatalError never can; a StepfoldError says so in `retryable`. */
function mayRetry(thrown: unknown): boolean {
  return !isFatal(thrown) && (!StepfoldError.is(thrown) || thrown.retryable);
}

/** Returns the milliseconds until the next attempt; null if there is none. */
function retryDelay(run: AttemptState, policy: CompiledPolicy | null, thrown: unknown, error: ErrorInfo, now: number): number | null {
  const { task, context } = run;
  const scope = { ...run.scope(), error, attempt: task.attempt };
  const rule = policy ? evaluatePolicy(policy, scope, task.nodeId) : noRetry;
  const delayMs = retryDelayMs(rule, task.attempt, `${context.workflowId}/${scopedKey(task.scope ?? "", task.pathId)}#${task.visit}`);
  if (delayMs === null || (policy?.retryIf && !policy.retryIf.evaluate(scope))) return null;
  const askedMs = retryAfterMs(thrown, now);
  return askedMs === null ? delayMs : Math.min(askedMs, rule.maxIntervalMs ?? askedMs);
}
