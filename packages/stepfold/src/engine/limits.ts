import { errorInfo } from "../core/errors/error-info.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { depthOf } from "../core/snapshot/address.ts";
import type { ChildStart } from "../core/snapshot/parts/message.ts";
import { carriedTo } from "../core/transition/begin-run.ts";
import { type Draft, isChild, type ScopeDraft } from "../core/transition/draft/draft.ts";
import { scopeAt } from "../core/transition/draft/open-draft.ts";
import type { Task } from "../core/transition/plan.ts";
import { anObject, aSignal, requireOption } from "../core/values/check-arguments.ts";
import { type EpochMs, sizeOfJson } from "../core/values/json.ts";
import { defaultLimits, type Limits } from "../core/values/limits.ts";
import type { Outcome } from "./attempt/outcome.ts";
import { reduceVariables } from "./attempt/reduce-variables.ts";

/** Default timeout of one attempt: long enough for a call, short enough to end a step that hangs. */
const defaultStepTimeoutMs = 600_000;

/** Returns the given limits, completed with the defaults. @throws StepfoldError `OPTION_INVALID` */
export function readLimits(given: Partial<Limits> | undefined): Limits {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(defaultLimits, name))
      throw new StepfoldError("OPTION_INVALID", {
        option: `limits.${name}`,
        reason: `is not a limit. The limits are: ${Object.keys(defaultLimits).join(", ")}`,
      });
    if (typeof value !== "number" || !(value >= 1))
      throw new StepfoldError("OPTION_INVALID", { option: `limits.${name}`, reason: "must be a number of at least 1" });
  }
  return Object.freeze({ ...defaultLimits, ...given });
}

/** Returns the timeout of attempts whose node has none, in milliseconds. @throws StepfoldError `OPTION_INVALID` */
export function readStepTimeout(given: number = defaultStepTimeoutMs): number {
  if (typeof given === "number" && given > 0) return given;
  throw new StepfoldError("OPTION_INVALID", { option: "stepTimeoutMs", reason: "must be a number above 0" });
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkTurnOptions(options: {
  readonly stepLimit?: unknown;
  readonly concurrency?: unknown;
  readonly signal?: unknown;
}): void {
  requireOption("request", options, anObject);
  if (options.signal !== undefined) requireOption("signal", options.signal, aSignal);
  for (const option of ["stepLimit", "concurrency"] as const) {
    const value = options[option];
    if (value !== undefined && !(value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= 1))) {
      throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number of at least 1" });
    }
  }
}

/** The outcome of an attempt that was not aborted. */
export type Counted = Exclude<Outcome, { type: "aborted" }>;

/**
 * Returns an outcome as it is applied to a draft: variables go through their reducers, a change of metadata becomes the whole metadata, a
 * step with `unlessSignalled` does not end its scope while the signal or an undelivered message is there, an execution in which another path has failed ends instead of
 * going on with its next run, and an outcome that would exceed a limit becomes a failure.
 */
export function settleOutcome(limits: Limits, draft: Draft, task: Task, outcome: Counted): Counted {
  const reduced =
    outcome.type === "completed" && (outcome.writes ?? outcome.metadataPatch) ? reduceVariables(limits, draft, task, outcome) : outcome;
  const goesOn =
    reduced.type === "completed" &&
    reduced.unlessSignalled !== undefined &&
    (draft.outbox.length > 0 || hasSignal(draft, reduced.unlessSignalled, reduced.endedAt));
  if (reduced.type === "completed" && reduced.nextRun && draft.error) return withoutNextRun(reduced);
  return enforceLimits(limits, draft, task, goesOn ? withoutTerminates(reduced) : reduced);
}

function withoutNextRun({ nextRun: _, ...outcome }: Extract<Counted, { type: "completed" }>): Counted {
  return outcome;
}

/** Whether the inbox holds a signal of this name, without a key, that has not expired. */
function hasSignal({ inbox }: Draft, name: string, at: EpochMs): boolean {
  return inbox.some((signal) => signal.name === name && signal.key === undefined && signal.expiresAt > at);
}

/** Removes `terminates` from the outcome of a step: the workflow does not end yet. */
function withoutTerminates({ terminates: _, unlessSignalled: __, ...outcome }: Extract<Counted, { type: "completed" }>): Counted {
  return outcome;
}

/**
 * Returns the outcome, or the failure that takes its place because the execution would exceed a limit. The transition that would add too
 * much is refused, so that everything that is stored can always be loaded.
 */
function enforceLimits(limits: Limits, draft: Draft, task: Task, outcome: Counted): Counted {
  const sizeBytes = sizeAfter(draft, outcome);
  if (sizeBytes > limits.executionBytes) {
    // the step is undone, even if there is no room for the output of its compensation
    if (task.undoes && outcome.type === "completed") return { ...outcome, output: null, sizeBytes: 0 };
    return exceeded(limits, draft, task, outcome, { limit: "executionBytes", actual: sizeBytes });
  }
  if (outcome.type === "spawned" && depthOf(task.scope ?? "") >= limits.nesting)
    return exceeded(limits, draft, task, outcome, { limit: "nesting", actual: limits.nesting + 1 });
  if ("starts" in outcome && outcome.starts) return withBudget(limits, draft, task, outcome, outcome.starts);
  const paths =
    outcome.type === "completed" ? (task.undoes ? 0 : pathsAfter(limits, draft, task, outcome.handles)) : askedPaths(draft, task);
  return paths > limits.paths ? exceeded(limits, draft, task, outcome, { limit: "paths", actual: paths }) : outcome;
}

/** Returns the size of the execution after an outcome. The next run holds only its input and what it takes over. */
function sizeAfter(draft: Draft, outcome: Counted): number {
  if (outcome.type === "completed" && outcome.nextRun)
    return outcome.sizeBytes + carriedTo(draft, { ...outcome, at: outcome.endedAt }).bytes;
  return draft.sizeBytes + outcome.sizeBytes + metadataGrowth(draft, outcome);
}

/** Returns by how many bytes the metadata grows. `outcome.sizeBytes` does not count it. */
function metadataGrowth({ metadata }: Draft, outcome: Counted): number {
  const next = outcome.type === "completed" ? outcome.metadata : undefined;
  return next === undefined ? 0 : sizeOfJson(next) - sizeOfJson(metadata);
}

function exceeded(
  limits: Limits,
  { workflowId }: Draft,
  task: Task,
  outcome: Counted,
  { limit, actual }: { readonly limit: keyof Limits; readonly actual: number },
): Counted {
  const what = `Execution "${workflowId}"`;
  return asFailure(task, outcome, new StepfoldError("LIMIT_EXCEEDED", { what, limit, max: limits[limit], actual }));
}

/**
 * Returns the outcome with the number of descendants that the new execution may have in turn (its budget). If this execution has used up
 * its own budget, the step fails, and the path leaves by the edge `error` if the node has one.
 *
 * The budgets of all children together are never larger than the budget of this execution. So one start leads to at most `descendants`
 * other executions, and nobody has to count them. Half of a budget is reserved for direct children; the other half is handed on. Steps in
 * items of maps share it, because as many of them are likely to start children; otherwise a child gets half of what is left to hand on.
 */
function withBudget(limits: Limits, draft: Draft, task: Task, outcome: Counted, starts: ChildStart): Counted {
  const scope = scopeAt(draft, task.scope);
  // the scope has ended meanwhile, so the outcome is too late and changes nothing
  if (!scope) return outcome;
  const given = draft.parent?.descendants ?? limits.descendants;
  const left = given - draft.descendants;
  if (left < 1) {
    const what = `Execution "${draft.workflowId}"`;
    const error = new StepfoldError("LIMIT_EXCEEDED", { what, limit: "descendants", max: given, actual: draft.descendants + 1 });
    const { edges } = scope.workflow.nodes.get(task.nodeId)!;
    return { ...asFailure(task, outcome, error), ...(edges.has("error") && { handle: "error" as const }) };
  }
  const kept = Math.ceil(given / 2);
  const descendants = Math.max(0, Math.floor((left - kept) / (itemsAround(scope) + 1)));
  return { ...outcome, starts: Object.freeze({ ...starts, descendants }) } as Counted;
}

/** The product of the numbers of items of all maps around a scope; 1 if there is no map. */
function itemsAround(scope: ScopeDraft): number {
  let items = 1;
  for (let current = scope; isChild(current); current = current.parent) items *= Math.max(1, current.siblings?.map?.total ?? 1);
  return items;
}

/**
 * Returns the failure of a task that would exceed the limit `steps`, without performing the task; null while there are steps left.
 *
 * @param begun the number of tasks that run, or whose outcomes are not applied yet
 */
export function exhausted(
  limits: Limits,
  { workflowId, steps, closing }: Draft,
  { nodeId, undoes }: Task,
  begun: number,
  now: EpochMs,
): Outcome | null {
  // compensations, and the nodes that run at the end (`finally`), may go on to three times the limit: so every step can still be undone,
  // even with some failed attempts
  const max = undoes || closing ? 3 * limits.steps : limits.steps;
  if (steps + begun < max) return null;
  const error = errorInfo(new StepfoldError("STEPS_EXCEEDED", { workflowId, max }), nodeId);
  return { type: "failed", error, sizeBytes: error.message.length, retryAt: null, startedAt: now, endedAt: now, uncalled: true };
}

/** The number of paths of the task's scope once the task's path has left its node; 0 if the number is small enough in any case. */
function pathsAfter(limits: Limits, draft: Draft, { nodeId, scope: key }: Task, handles: readonly string[] | undefined): number {
  const scope = key === undefined ? draft : scopeAt(draft, key);
  if (!scope) return 0;
  const { length } = scope.workflow.definition.edges;
  // there is room for every edge that a path could take
  if (!handles && scope.paths.length + length <= limits.paths) return 0;
  const { edges, next } = scope.workflow.nodes.get(nodeId)!;
  return scope.paths.length - 1 + (handles ? handles.reduce((sum, handle) => sum + (edges.get(handle)?.length ?? 0), 0) : next.length);
}

/** The number of paths of a scope with code once a step that the code has asked for waits or is retried; 0 if it has a path already. */
function askedPaths(draft: Draft, { scope: key, pathId, undoes }: Task): number {
  const scope = undoes ? null : scopeAt(draft, key);
  return scope?.workflow.code && !scope.paths.some(({ id }) => id === pathId) ? scope.paths.length + 1 : 0;
}

/** Turns an outcome into a failure that is not retried. */
function asFailure({ nodeId }: Task, outcome: Counted, error: StepfoldError): Counted {
  const { startedAt, endedAt } = outcome;
  const uncalled = outcome.type === "failed" && outcome.uncalled && { uncalled: true as const };
  return { type: "failed", error: errorInfo(error, nodeId), sizeBytes: 0, retryAt: null, startedAt, endedAt, ...uncalled };
}
