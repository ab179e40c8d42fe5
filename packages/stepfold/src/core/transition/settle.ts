import { errorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import type { EpochMs, Json } from "../values/json.ts";
import { normalise } from "../values/to-json.ts";
import { fold, nextChild } from "./children/children.ts";
import { completeChildren } from "./children/complete-children.ts";
import { touch } from "./draft/add-result.ts";
import { type ChildDraft, isChild, type ScopeDraft } from "./draft/draft.ts";
import type { DraftPath } from "./draft/draft-path.ts";
import { recount } from "./draft/standing.ts";
import { settleHolds } from "./joins/settle-holds.ts";
import { settleJoins } from "./joins/settle-joins.ts";
import { forgetChildren } from "./paths/drop-children.ts";
import { stop } from "./paths/stop.ts";

/**
 * Does what follows from an event once its path has moved: in its scope, then in those around it
 * (docs/path-semantics.md, "Settling and status").
 */
export function settle(scope: ScopeDraft, at: EpochMs): void {
  for (let current = scope; ; current = current.parent) {
    settleScope(current, at);
    // what a completed child did may have to be undone later; what another one did has been
    if (current.ended && (current.ended !== "completed" || !isChild(current))) forgetChildren(current);
    if (!isChild(current)) return;
    conclude(current);
  }
}

const noPaths: Set<DraftPath> = new Set();

function conclude(child: ChildDraft): void {
  const { status, queued } = child;
  recount(child);
  if (child.status !== status || child.queued !== queued) {
    const version = child.root.version + 1;
    touch(child, version);
    // what it counts, and perhaps where it stands, changes too
    touch(child.parent, version);
  }
  if (child.ended) fold(child, child.root.version + 1);
}

function settleScope(scope: ScopeDraft, at: EpochMs): void {
  if (scope.ended || isCalm(scope)) return;
  const heldAgain = scope.workflow.holds ? new Set<DraftPath>() : noPaths;
  for (let moved = true; moved && !scope.ended; ) {
    moved = false;
    while (settleChildren(scope, at)) moved = true;
    moved = settleJoins(scope, at) || moved;
    moved = settleHolds(scope, heldAgain, at) || moved;
  }
  if (scope.ended) return;
  if (scope.paths.length === 0) complete(scope, at);
  else if (isStalled(scope)) stall(scope);
}

/** Nothing of it waits for anything else of it: most steps of most executions need no more than this look. */
function isCalm({ paths, workflow, groups, root }: ScopeDraft): boolean {
  return paths.length > 0 && !workflow.holds && !groups?.size && root.children.size === 0 && root.mapItems.size === 0;
}

/** Begins the children that there is a place for, and lets paths go on whose children are done. */
function settleChildren(scope: ScopeDraft, at: EpochMs): boolean {
  if (scope.root.mapItems.size === 0 && scope.root.children.size === 0) return false;
  let moved = false;
  for (const path of [...scope.paths]) {
    while (path.children && !scope.ended) {
      if (completeChildren(scope, path, at)) {
        moved = true;
        break;
      }
      const child = nextChild(scope, path.children, scope.root.version + 1);
      if (!child) break;
      settleScope(child, at);
      conclude(child);
    }
  }
  return moved;
}

function isStalled({ paths, groups }: ScopeDraft): boolean {
  // of many paths one that a join is known to wait for tells as much as all
  for (const { blocker } of groups?.values() ?? []) if (blocker?.path.open && !isStuck(blocker.path)) return false;
  return paths.every(isStuck);
}

function isStuck({ status }: DraftPath): boolean {
  return status === "held" || status === "joining";
}

function stall(scope: ScopeDraft): void {
  const nodes = [...new Set(scope.paths.map(({ nodeId }) => nodeId))];
  stop(scope, "failed", nodes[0]!, errorInfo(new StepfoldError("STALLED", { nodes }), nodes[0]!), scope.root.version + 1);
}

/** No path is left: the scope is complete, or fails now that all else has come to its end. */
function complete(scope: ScopeDraft, at: EpochMs): void {
  const version = scope.root.version + 1;
  if (scope.error) {
    stop(scope, "failed", scope.failedAt, scope.error, version);
    return;
  }
  try {
    if (scope.workflow.output) scope.output = outputOf(scope, at);
    else if (scope.output === undefined) scope.output = lastOutput(scope);
    scope.ended = "completed";
  } catch (error) {
    scope.output = undefined;
    stop(scope, "failed", null, errorInfo(error), version);
  }
}

function outputOf({ workflow, context, root, input }: ScopeDraft, at: EpochMs): Json {
  const scope = workflow.language.executionScope({ context, since: root.version + 1, input, metadata: root.metadata, at });
  return normalise(workflow.output!.evaluate(scope), `The output of workflow "${workflow.definition.id}"`, workflow.limits).value;
}

/** Of a scope whose last path did not come to an end of the graph, but was ended. */
function lastOutput({ context }: ScopeDraft): Json {
  let last: { readonly version: number; readonly output: Json } = { version: -1, output: null };
  for (const results of Object.values(context)) {
    const result = results.findLast(({ error }) => error === undefined);
    if (result && result.version > last.version) last = result;
  }
  return last.output;
}
