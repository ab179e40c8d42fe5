import type { CompiledNode } from "../../definition/compiled.ts";
import { type ErrorInfo, errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { belongsTo } from "../../snapshot/address.ts";
import { notUndone } from "../../snapshot/not-undone.ts";
import { warnOfUndo } from "../../snapshot/parts/warning.ts";
import type { NodeResult, Undo, UndoneStep } from "../../snapshot/snapshot.ts";
import { type Draft, isChild, type ScopeDraft } from "../draft/draft.ts";
import { firstPath, nodeWith, visit } from "../draft/draft-path.ts";
import { childOf, scopeAt } from "../draft/open-draft.ts";

/** The id of the path that undoes the steps of a scope. */
const undoPathId = "undo";

/** A step that can be undone. */
interface Undoable {
  readonly node: CompiledNode;
  readonly undoes: Undo;
}

/**
 * Begins to undo the steps of a scope and its kept children: first the begun steps that have not completed, then the completed ones, the
 * newest first. Returns false if there is nothing to undo.
 */
export function firstUndo(scope: ScopeDraft, version: number): boolean {
  const found = begun(scope) ?? newest(scope, Number.POSITIVE_INFINITY);
  if (!found) return false;
  const id = scope.root.restarts > 0 ? `${undoPathId}-${version}` : undoPathId;
  scope.paths = [{ ...firstPath(found.node, version), id, undoes: found.undoes }];
  return true;
}

/** Goes on with the next step to undo. If there is none, it removes the path and returns false. */
function nextUndo(scope: ScopeDraft, version: number): boolean {
  const path = scope.paths[0]!;
  const found = takeNext(scope, path.undoes!);
  if (!found) {
    scope.paths = [];
    return false;
  }
  visit(path, found.node, version);
  path.undoes = found.undoes;
  path.status = "ready";
  return true;
}

/** Returns the step to undo after the one that was just undone, or whose compensation has just failed; null if there is none. */
function takeNext(scope: ScopeDraft, { version = Number.POSITIVE_INFINITY }: Undo): Undoable | null {
  const ending = scope.ending!;
  if (ending.again) {
    const again = Object.freeze(ending.again.slice(1));
    scope.ending = Object.freeze({ ...ending, again });
    return again[0] ? undoable(scope, again[0]) : null;
  }
  if (version === Number.POSITIVE_INFINITY) scope.ending = Object.freeze({ ...ending, begun: Object.freeze(ending.begun.slice(1)) });
  return begun(scope) ?? newest(scope, version);
}

function begun(scope: ScopeDraft): Undoable | null {
  const first = scope.ending!.begun[0];
  return first ? undoable(scope, first) : null;
}

function undoable({ root, workflow }: ScopeDraft, { nodeId, ...undoes }: UndoneStep): Undoable {
  const place = undoes.scope === undefined ? workflow : scopeAt(root, undoes.scope)!.workflow;
  return { node: nodeWith(place.nodes, nodeId, undoes.undo), undoes: Object.freeze(undoes) };
}

/** Returns the step with the newest result before a version that can be undone and was not undone yet. */
function newest(scope: ScopeDraft, before: number): Undoable | null {
  let found: Undoable | null = null;
  // results that were taken over from another execution have versions of 0 or less
  let version = Number.NEGATIVE_INFINITY;
  for (const place of scopesToUndo(scope)) {
    for (const nodeId of undoableNodes(place)) {
      const result = lastBefore(place, nodeId, before);
      if (!result || result.version <= version) continue;
      version = result.version;
      const { pathId, undo } = result;
      const undoes = { pathId, version, ...(undo && { undo }) };
      const node = nodeWith(place.workflow.nodes, nodeId, undo);
      found = { node, undoes: Object.freeze(isChild(place) ? { scope: place.key, ...undoes } : undoes) };
    }
  }
  return found;
}

/** The ids of the nodes of which some results can be undone. */
function undoableNodes({ workflow, context }: ScopeDraft): readonly string[] {
  if (workflow.code) return Object.keys(context);
  return [...workflow.nodes].flatMap(([id, { compensation }]) => (compensation ? [id] : []));
}

/** Whether a child, or a child inside it, has a step that can be undone. */
export function hasEffects(child: ScopeDraft): boolean {
  return scopesToUndo(child).some(({ begun: { length } }) => length > 0) || newest(child, Number.POSITIVE_INFINITY) !== null;
}

/** Returns the scope itself, and the children inside it that have ended and are kept because their steps may have to be undone. */
export function scopesToUndo(scope: ScopeDraft): ScopeDraft[] {
  const { root } = scope;
  const places = [scope];
  for (const [key, child] of root.children) {
    if (child.kept && !child.settled && (scope.key === "" || (key !== scope.key && belongsTo(key, scope.key))))
      places.push(childOf(root, key)!);
  }
  return places;
}

function lastBefore({ root, key, context, workflow }: ScopeDraft, nodeId: string, before: number): NodeResult | undefined {
  const results = Object.hasOwn(context, nodeId) ? context[nodeId]! : [];
  return results.findLast(
    ({ version, error, undo }) => version < before && error === undefined && (!workflow.code || undo) && !isUndone(root, key, version),
  );
}

function isUndone({ compensations }: ScopeDraft["root"], key: string, version: number): boolean {
  return compensations.some(({ undoes }) => undoes.version === version && (undoes.scope ?? "") === key);
}

/** Records the result of a compensation and goes on with the next one; ends the scope if there is none. */
export function compensated(scope: ScopeDraft, nodeId: string, { pathId: _, ...result }: NodeResult): void {
  const { root } = scope;
  const { undoes } = scope.paths[0]!;
  root.compensations.push(Object.freeze({ nodeId, undoes: undoes!, ...result }));
  if (result.error !== undefined) warnOfUndo(root, nodeId, result.error);
  if (nextUndo(scope, root.version + 1)) return;
  scope.ended = scope.ending!.status;
  scope.error = scope.ending!.error;
  scope.ending = undefined;
}

/**
 * Keeps an execution open at its end if a compensation has failed: the execution is parked, and after a `retry` command each failed
 * compensation is performed once more. Messages are delivered first, because a parked execution delivers none. Returns true if it stays
 * open.
 */
export function holdOpen(draft: Draft, version: number): boolean {
  const failed = notUndone(draft.compensations);
  draft.error = errorAtEnd(draft, failed);
  if (failed.length === 0) return false;
  const again = draft.outbox.length > 0 ? [] : failed.map(({ error: _, ...step }) => Object.freeze(step));
  const { ended, failedNodeId: nodeId, error } = draft;
  draft.ending = Object.freeze({ status: ended!, nodeId, ...(error && { error }), begun: Object.freeze([]), again: Object.freeze(again) });
  draft.ended = null;
  if (!again[0]) return true;
  const { node, undoes } = undoable(draft, again[0]);
  // the path id differs for each round of retries, because ids of waits are made of it and must not repeat
  draft.paths = [{ ...firstPath(node, version), id: `${undoPathId}-${version}`, undoes }];
  draft.parked = Object.freeze({ code: "COMPENSATION_FAILED", message: failureText(failed), at: draft.compensations.at(-1)!.timestamp });
  return true;
}

type NotUndone = ReturnType<typeof notUndone>;
/** The largest number of node ids in `notUndone` of the error. */
const maxNamed = 100;
/** The largest length of the message of a parked execution, in characters. */
const maxTextLength = 1_000;

/**
 * Returns the error of the execution with the nodes that could not be undone (`notUndone`); a completed execution gets none. If a cancelled
 * execution has no other error, the error is `COMPENSATION_FAILED`; it disappears when all compensations have succeeded.
 */
function errorAtEnd({ ended, error }: Draft, failed: NotUndone): ErrorInfo | undefined {
  if (ended === "completed") return error;
  const isOurs = ended === "cancelled" && error?.code === "COMPENSATION_FAILED";
  const { notUndone: _, ...own } = (isOurs ? undefined : error) ?? {};
  const [first] = failed;
  if (!first) return "message" in own ? Object.freeze(own as ErrorInfo) : undefined;
  const { nodeId, error: message } = first;
  const told = "message" in own ? (own as ErrorInfo) : errorInfo(new StepfoldError("COMPENSATION_FAILED", { nodeId, message }), nodeId);
  return Object.freeze({ ...told, notUndone: Object.freeze([...new Set(failed.map((step) => step.nodeId))].slice(0, maxNamed)) });
}

function failureText([first, ...others]: NotUndone): string {
  const more =
    others.length === 0 ? "" : `, and ${others.length === 1 ? "1 other compensation" : `${others.length} other compensations`} too`;
  return `The compensation of node "${first!.nodeId}" failed${more}: ${first!.error}`.slice(0, maxTextLength);
}
