import { errorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { depthOf } from "../snapshot/address.ts";
import type { EpochMs, Json } from "../values/json.ts";
import { evaluatedJson } from "../values/to-json.ts";
import { endChild, nextChild } from "./children/children.ts";
import { completeChildren, failChildren } from "./children/complete-children.ts";
import { markChanged } from "./draft/add-result.ts";
import { type ChildDraft, type Draft, factsOf, isChild, type ScopeDraft, seedOf, variablesAt } from "./draft/draft.ts";
import type { DraftPath } from "./draft/draft-path.ts";
import { updateCounters } from "./draft/draft-status.ts";
import { noteFailure } from "./draft/failures.ts";
import { childOf, isOpen } from "./draft/open-draft.ts";
import { settleHolds, settleJoins } from "./joins/settle-joins.ts";
import { forgetChildren, stop } from "./paths/end-path.ts";
import { yieldAnswers } from "./paths/yield-answers.ts";

/**
 * Does everything that follows from an event after its path has moved: first in the scope of the event, then in the scopes around it
 * (docs/path-semantics.md, "Settling and status").
 */
export function settle(scope: ScopeDraft, at: EpochMs): void {
  for (let current = scope; ; current = current.parent) {
    settleScope(current, at);
    if (!isChild(current)) return;
    // a failed or cancelled child has already undone what it could; the steps inside a completed child may have to be undone later
    if (current.ended && current.ended !== "completed") forgetChildren(current);
    conclude(current);
  }
}

/** Does what follows in every scope, the innermost first: after a restart, what stood before its judgement is judged again. */
export function settleAll(draft: Draft, at: EpochMs): void {
  const open = [...draft.children].flatMap(([key, child]) => (isOpen(child) ? [key] : []));
  for (const key of open.sort((a, b) => depthOf(b) - depthOf(a))) {
    const child = childOf(draft, key)!;
    settleScope(child, at);
    if (child.ended && child.ended !== "completed") forgetChildren(child);
    conclude(child);
  }
  settleScope(draft, at);
}

const noPaths: Set<DraftPath> = new Set();

/** Updates the counters of the parent after a child has settled, and records the end of the child. */
function conclude(child: ChildDraft): void {
  const { status, queued } = child;
  updateCounters(child);
  if (child.status !== status || child.queued !== queued) {
    const version = child.root.version + 1;
    markChanged(child, version);
    // the counters of the parent change too, and perhaps its status
    markChanged(child.parent, version);
  }
  if (child.ended) endChild(child, child.root.version + 1);
}

function settleScope(scope: ScopeDraft, at: EpochMs): void {
  if (scope.ended) return;
  if (scope.workflow.code) yieldAnswers(scope, at);
  const calm = isCalm(scope);
  if (!calm) letMove(scope, at);
  if (scope.ended) return;
  if (scope.paths.length === 0) complete(scope, at);
  else if (!calm && isStalled(scope)) stall(scope);
}

/** Settles the children, joins and held paths of a scope until nothing moves any more. */
function letMove(scope: ScopeDraft, at: EpochMs): void {
  const heldAgain = scope.workflow.holds ? new Set<DraftPath>() : noPaths;
  for (let moved = true; moved && !scope.ended; ) {
    moved = false;
    while (settleChildren(scope, at)) moved = true;
    moved = settleJoins(scope, at) || moved;
    moved = settleHolds(scope, heldAgain, at) || moved;
  }
}

/** True if it is certain that no path of a scope depends on another path or on children. Most steps need nothing but this test. */
function isCalm({ workflow, groups, root }: ScopeDraft): boolean {
  return !workflow.holds && !groups?.size && root.children.size === 0 && root.mapItems.size === 0;
}

/** Begins the children that may begin, and lets paths go on whose children are done or have failed. Returns true if a path moved. */
function settleChildren(scope: ScopeDraft, at: EpochMs): boolean {
  if (scope.root.mapItems.size === 0 && scope.root.children.size === 0) return false;
  let moved = false;
  for (const path of [...scope.paths]) {
    while (path.children && !scope.ended) {
      if (completeChildren(scope, path, at)) {
        moved = true;
        break;
      }
      let child: ChildDraft | null = null;
      try {
        child = nextChild(scope, path.children, scope.root.version + 1, at);
      } catch (error) {
        failChildren(scope, path, error, at);
        moved = true;
      }
      if (!child) break;
      settleScope(child, at);
      conclude(child);
    }
  }
  return moved;
}

function isStalled({ paths, groups }: ScopeDraft): boolean {
  // if a join waits for a path that can move, the scope is not stalled, and the other paths need not be examined
  for (const { blocker } of groups?.values() ?? []) if (blocker?.path.open && !isStuck(blocker.path)) return false;
  return paths.every(isStuck);
}

function isStuck({ status }: DraftPath): boolean {
  return status === "held" || status === "joining";
}

function stall(scope: ScopeDraft): void {
  noteFailure(scope, null);
  const nodes = [...new Set(scope.paths.map(({ nodeId }) => nodeId))];
  stop(scope, "failed", nodes[0]!, errorInfo(new StepfoldError("STALLED", { nodes }), nodes[0]!), scope.root.version + 1);
}

/** Ends a scope without paths. It fails if a path has failed before (`onFailure: "finish"`) or if its output cannot be computed. */
function complete(scope: ScopeDraft, at: EpochMs): void {
  const version = scope.root.version + 1;
  if (scope.error) {
    noteFailure(scope, null);
    stop(scope, "failed", scope.failedNodeId, scope.error, version);
    return;
  }
  if (scope.root.closing && !isChild(scope)) {
    scope.output = undefined;
    scope.ended = "completed";
    return;
  }
  try {
    if (scope.workflow.output) scope.output = outputOf(scope, at);
    else if (scope.output === undefined) scope.output = lastOutput(scope);
    scope.ended = "completed";
  } catch (error) {
    noteFailure(scope, null);
    scope.output = undefined;
    stop(scope, "failed", null, errorInfo(error), version);
  }
}

function outputOf(of: ScopeDraft, at: EpochMs): Json {
  const { workflow, context, root, input, key } = of;
  const since = root.version + 1;
  const parts = { context, since, vars: variablesAt(of, since), input, metadata: root.metadata, at };
  const scope = workflow.language.executionScope({ ...parts, execution: factsOf(root), seed: () => `${seedOf(root)} ${key} output` });
  return evaluatedJson(workflow.output!.evaluate(scope), `The output of workflow "${workflow.definition.id}"`, workflow.limits).value;
}

/** Returns the newest output in the context, or null. It is the output of a scope in which no path has reached an end of the graph. */
function lastOutput({ context }: ScopeDraft): Json {
  let last: { readonly version: number; readonly output: Json } = { version: -1, output: null };
  for (const results of Object.values(context)) {
    const result = results.findLast(({ error }) => error === undefined);
    if (result && result.version > last.version) last = result;
  }
  return last.output;
}
