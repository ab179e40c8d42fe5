import { evaluatePolicy, undefinedSetting } from "../../definition/compiled-policy.ts";
import { retryDelayMs } from "../../definition/retry.ts";
import { type ErrorInfo, errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { childKey, scopedKey } from "../../snapshot/address.ts";
import type { ChildState, NodeResult, Status } from "../../snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../values/json.ts";
import { normalise } from "../../values/to-json.ts";
import { addConsequence } from "../draft/add-result.ts";
import { type ChildDraft, factsOf, type ScopeDraft, variablesAt } from "../draft/draft.ts";
import { actedBy, type DraftChildren, type DraftPath, visitAgain } from "../draft/draft-path.ts";
import { noteFailure } from "../draft/failures.ts";
import { sizeOfWaits } from "../draft/held-size.ts";
import { dropChildren, endPath } from "../paths/end-path.ts";
import { failPath } from "../paths/fail-path.ts";
import { openIncident } from "../paths/incident.ts";
import { cancelOthers, leave, newId } from "../paths/leave.ts";
import { countItems, endedChild, isFull } from "./children.ts";

/** The state of the children of a path: still going, or the output or error of the node that follows from them. */
type Verdict = "going" | { readonly output: Json } | { readonly error: ErrorInfo };

/** Lets a path leave its node if its children are done, or enough of them, or have failed; ends a draining path. False if they go on. */
export function completeChildren(scope: ScopeDraft, path: DraftPath, at: EpochMs): boolean {
  const children = path.children!;
  if (path.draining) {
    if (children.map ? !isFull(children) : !endedChild(scope, children)) return false;
    endPath(scope, path, null);
    return true;
  }
  let verdict: Verdict;
  try {
    verdict = children.map ? verdictOfMap(scope, path, children, at) : verdictOfChild(scope, path, children);
  } catch (error) {
    // an expression has failed, or the result is too large
    verdict = { error: errorInfo(error, path.nodeId) };
  }
  if (verdict === "going") return false;
  const version = scope.root.version + 1;
  const result = { timestamp: at, attempt: path.attempts + 1, pathId: path.id, version };
  if ("error" in verdict) {
    failWith(scope, path, verdict.error, result, version);
    return true;
  }
  const { output } = verdict;
  addConsequence(scope, path.node, { output, ...result, ...actedBy(path) });
  const finishes = children.map?.remaining === "finish" && !isFull(children);
  if (finishes || dropChildren(scope, children, false)) drain(scope, path);
  path.children = undefined;
  path.waits = undefined;
  path.status = "ready";
  path.attempts = 0;
  path.begun = false;
  path.acted = undefined;
  cancelOthers(scope, path);
  if (!leave(scope, path, undefined, version) && !scope.workflow.code) scope.output = output;
  return true;
}

/** Fails the node of a path whose next child could not begin. A draining path does not fail: items that have not begun are cancelled. */
export function failChildren(scope: ScopeDraft, path: DraftPath, thrown: unknown, at: EpochMs): void {
  const { map } = path.children!;
  if (path.draining && map) {
    let cancelled = 0;
    for (let item = map.next; item < map.total; item++)
      if (!scope.root.children.has(childKey(scope.key, path.children!.key, item))) cancelled++;
    countItems(path.children!, { next: map.total, cancelled: map.cancelled + cancelled });
    return;
  }
  const version = scope.root.version + 1;
  const result = { timestamp: at, attempt: path.attempts + 1, pathId: path.id, version };
  failWith(scope, path, errorInfo(thrown, path.nodeId), result, version);
}

function failWith(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, result: Omit<NodeResult, "output">, version: number): void {
  const handle = path.node.edges.has("error") ? "error" : undefined;
  addConsequence(scope, path.node, {
    output: handle === undefined ? null : (error as unknown as Json),
    ...result,
    error: error.message,
  });
  failWhole(scope, path, { error, handle, at: result.timestamp }, version);
}

/** The failure of a node that runs children. */
interface Failure {
  readonly error: ErrorInfo;
  /** The handle by which the path leaves when no attempt is left; undefined if no edge takes the failure. */
  readonly handle?: string | undefined;
  readonly at: EpochMs;
}

/**
 * Drops the children of a node that has failed or timed out. If its retry policy allows another attempt, the node begins new children
 * later; otherwise it opens an incident, or the path leaves by `handle`, or the scope fails.
 */
export function failWhole(scope: ScopeDraft, path: DraftPath, { error, handle, at }: Failure, version: number): void {
  const next = nextAttempt(scope, path, error, at);
  const asks = handle === undefined && (path.node.node.incident ?? scope.workflow.definition.incident) === true;
  if (typeof next !== "number" && (handle === undefined || scope.workflow.code) && !asks) noteFailure(scope, path);
  if (dropChildren(scope, path.children!, false)) drain(scope, path);
  path.children = undefined;
  path.waits = undefined;
  path.status = "ready";
  if (typeof next === "number") {
    path.status = "retrying";
    path.attempts++;
    path.nextRetryAt = next;
    visitAgain(path);
    return;
  }
  if (asks) {
    const attempt = path.attempts + 1;
    visitAgain(path);
    openIncident(scope, path, { error: next, attempt, at });
    scope.root.sizeBytes += sizeOfWaits(path.waits!);
    return;
  }
  failPath(scope, path, next, handle, version);
}

/** Returns the time at which a node whose children have failed begins new ones; if there is no retry, the error with which it fails. */
function nextAttempt(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, at: EpochMs): EpochMs | ErrorInfo {
  const { retryPolicy: policy, node } = path.node;
  if (!policy) return error;
  const { root, context, input, workflow } = scope;
  const attempt = path.attempts + 1;
  const { since } = path;
  const parts = { context, since, vars: variablesAt(scope, since), input, metadata: root.metadata, at, execution: factsOf(root) };
  try {
    const known = { ...root.workflow.language.executionScope(parts), error, attempt };
    const delayMs = retryDelayMs(
      evaluatePolicy(policy, known, node.id),
      attempt,
      `${root.workflowId}/${scopedKey(scope.key, path.id)}#${path.visit}`,
    );
    if (delayMs === null || (policy.retryIf && !policy.retryIf.evaluate(known))) return error;
    return at + Math.min(delayMs, workflow.limits.timerMs);
  } catch (refused) {
    const { message, ...rest } = errorInfo(refused, node.id);
    return Object.freeze({ ...rest, message: `${message} (after: ${error.message})` });
  }
}

function verdictOfChild(scope: ScopeDraft, { nodeId }: DraftPath, children: DraftChildren): Verdict {
  const child = endedChild(scope, children);
  if (!child) return "going";
  if (statusOf(child) === "completed") return { output: child.output ?? null };
  // a child that failed or was cancelled has an error
  return { error: { ...child.error!, nodeId } };
}

function verdictOfMap(scope: ScopeDraft, { nodeId }: DraftPath, children: DraftChildren, at: EpochMs): Verdict {
  const map = children.map!;
  if (children.judged === map) return "going";
  children.judged = map;
  const tolerated = map.tolerated < 1 ? itemsOf(map.tolerated, map.total) : map.tolerated;
  if (map.failed > tolerated && !(map.open && map.tolerated > 0 && map.tolerated < 1)) {
    const cause = firstError(scope, children);
    const message = cause ? `item ${cause.item}: ${cause.message}` : "unknown";
    const error = errorInfo(new StepfoldError("MAP_FAILED", { nodeId, failed: map.failed, tolerated, message }), nodeId);
    return { error: cause ? Object.freeze({ ...error, cause }) : error };
  }
  const enough = map.completeWhen !== undefined ? map.done >= map.completeWhen : holds(scope, children, at);
  if (!enough && !isFull(children)) return "going";
  return { output: normalise(outputs(scope, children), `The output of node "${nodeId}"`, scope.workflow.limits).value };
}

/**
 * Returns how many items a share is. A share has at most three decimals of a percent, so it is counted in thousandths of a percent: as
 * fractions, 29 % of 100 items would be 28.999.
 */
function itemsOf(share: number, total: number): number {
  const thousandths = 100_000;
  return Math.floor((Math.round(share * thousandths) * total) / thousandths);
}

/** What an expression can read of the progress of a map. */
const progressNames: readonly (string | undefined)[] = ["results", "total", "done", "failed"];

/**
 * Whether the expression `completeWhen` of a map says that it is complete: true, or a number of items that are done. An expression that
 * reads nothing of the progress is a number from elsewhere.
 *
 * @throws StepfoldError `DATA_INVALID` if that number is undefined: the map would be without it
 */
function holds(scope: ScopeDraft, children: DraftChildren, at: EpochMs): boolean {
  const { completeWhen } = children.path.node;
  if (!completeWhen) return false;
  const { root, context, input } = scope;
  const { total, done, failed } = children.map!;
  const since = root.version;
  const parts = { context, since, vars: variablesAt(scope, since), input, metadata: root.metadata, at, execution: factsOf(root) };
  // this runs after every item, so the results are collected only if the expression reads them
  const results = completeWhen.reads.some(([name]) => name === "results") ? outputs(scope, children, "done") : [];
  const value = completeWhen.evaluate(root.workflow.language.executionScope({ ...parts, progress: { results, total, done, failed } }));
  if (value === undefined && !completeWhen.reads.some(([name]) => progressNames.includes(name)))
    throw new StepfoldError("DATA_INVALID", {
      nodeId: children.path.nodeId,
      issues: [{ pointer: "/completeWhen", message: undefinedSetting }],
    });
  return typeof value === "number" ? done >= value : value === true;
}

/** Returns the outputs of the items in order; if not only of those that are `done`: `{ error }` if failed, null if cancelled or open. */
function outputs({ root, key }: ScopeDraft, children: DraftChildren, which: "all" | "done" = "all"): Json[] {
  const found: Json[] = [];
  for (let item = 0; item < children.map!.total; item++) {
    const child = root.children.get(childKey(key, children.key, item));
    const status = child && statusOf(child);
    if (status === "completed") found.push(child!.output ?? null);
    else if (which === "all") found.push(status === "failed" ? { error: child!.error as unknown as Json } : null);
  }
  return found;
}

function firstError({ root, key }: ScopeDraft, children: DraftChildren): ErrorInfo["cause"] {
  for (let item = 0; item < children.map!.next; item++) {
    const child = root.children.get(childKey(key, children.key, item));
    if (child?.error && statusOf(child) === "failed") return Object.freeze({ ...child.error, item });
  }
  return undefined;
}

/** Returns the status of a child that has ended; another status, or null, while the child is open. */
function statusOf(child: ChildDraft | ChildState): Status | null {
  return "root" in child ? child.ended : child.status;
}

/**
 * Gives the children of a path to a new, draining path, which ends with the last of them. The new path counts as arrived at the same
 * version as the old one (docs/path-semantics.md, "Waits, signals and children").
 */
function drain(scope: ScopeDraft, path: DraftPath): void {
  const children = path.children!;
  const draining: DraftPath = {
    ...path,
    id: newId(scope, path),
    status: "suspended",
    turn: 1,
    visit: 1,
    forks: 0,
    draining: true,
    begun: false,
    acted: undefined,
    waits: undefined,
    stepPath: [...path.stepPath],
  };
  children.path = draining;
  if (children.map) {
    const { open: _, ...closed } = children.map;
    children.map = Object.freeze(closed);
  }
  scope.paths.push(draining);
}
