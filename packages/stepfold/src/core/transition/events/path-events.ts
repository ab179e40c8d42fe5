import { errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { scopedKey } from "../../snapshot/address.ts";
import type { CancelledEvent, ExpiredEvent, ItemAddedEvent, MapClosedEvent, ResumedEvent, TimedOutEvent } from "../../snapshot/event.ts";
import { resultOf } from "../../snapshot/result.ts";
import type { Json } from "../../values/json.ts";
import { cancellation, countItems } from "../children/children.ts";
import { failWhole } from "../children/complete-children.ts";
import { codePathOf } from "../code/code-path.ts";
import { addConsequence, addResult } from "../draft/add-result.ts";
import { isChild, type ScopeDraft } from "../draft/draft.ts";
import { clearWaits, type DraftPath, recordAnswer } from "../draft/draft-path.ts";
import { deadlineIn } from "../draft/draft-status.ts";
import { withdraw } from "../draft/outbox.ts";
import { endPath, stop } from "../paths/end-path.ts";
import { failPath } from "../paths/fail-path.ts";
import { settleIncident } from "../paths/incident.ts";
import { compensated } from "../paths/undo.ts";
import { pathWith, waiting } from "./current-path.ts";

// Each function applies what happens to a path or a scope from outside of its steps. It returns false if the event comes too late.

export function applyResumed(scope: ScopeDraft, event: ResumedEvent): boolean {
  const found = waiting(scope, event.pathId, event.waitId);
  // no answer can end a wait for children: it ends with the children, or at its `timeoutAt`
  if (!found || found.wait.kind === "children") return false;
  if (found.wait.kind === "incident") settleIncident(scope, found.path, found.wait, event);
  else recordAnswer(scope.root, found.path, found.wait, event);
  return true;
}

export function applyTimedOut(scope: ScopeDraft, event: TimedOutEvent): boolean {
  const found = waiting(scope, event.pathId, event.waitId);
  if (!found) return false;
  const { result } = resultOf(event);
  withdraw(scope.root, found.path.waits!);
  clearWaits(scope.root, found.path);
  found.path.status = "ready";
  if (event.undoes) {
    compensated(scope, event.nodeId, result);
    return true;
  }
  addResult(scope, found.path.node, result);
  scope.root.sizeBytes += event.error.message.length;
  if (found.path.children) failWhole(scope, found.path, event, event.version);
  else failPath(scope, found.path, event.error, event.handle, event.version);
  return true;
}

export function applyExpired(scope: ScopeDraft, { at, version }: ExpiredEvent): boolean {
  const deadlineAt = deadlineIn(scope);
  if (deadlineAt > at) return false;
  const { workflow, root } = scope;
  const deadline = new Date(deadlineAt).toISOString();
  const details = { workflowId: root.workflowId, deadline, ...(isChild(scope) && { workflow: workflow.definition.id }) };
  stop(scope, "failed", scope.paths[0]!.nodeId, errorInfo(new StepfoldError("EXECUTION_TIMED_OUT", details)), version);
  return true;
}

export function applyRetried(scope: ScopeDraft, pathId: string): boolean {
  const path = pathWith(scope, pathId);
  if (path?.status !== "retrying") return false;
  // `turn` rose when the attempt failed and does not rise again, so a retry that was begun before its time stays current
  path.status = "ready";
  path.nextRetryAt = undefined;
  return true;
}

export function applyCancelled(scope: ScopeDraft, event: CancelledEvent): boolean {
  const { pathIds, reason, version } = event;
  if (scope.ending) return !pathIds && giveUp(scope);
  // a scope does not go on without its code
  const code = scope.workflow.code && codePathOf(scope);
  if (!pathIds || (code && pathIds.includes(code.id))) {
    if (!isChild(scope) && scope.root.closing) return false;
    stop(scope, "cancelled", scope.paths[0]!.nodeId, cancellation(scope.key, reason), version);
    return true;
  }
  const paths = scope.paths.filter(({ id }) => pathIds.includes(id));
  for (const path of paths) {
    if (code) addCancelledStep(scope, path, event);
    endPath(scope, path, "cancelled");
  }
  return paths.length > 0;
}

/** Adds the result that code gets for a step that was cancelled: an error. */
function addCancelledStep(
  scope: ScopeDraft,
  path: DraftPath,
  { reason = `Step "${path.nodeId}" was cancelled`, at, version }: CancelledEvent,
): void {
  const { id: pathId, node, nodeId, attempts } = path;
  const output = { ...cancellation(pathId, reason), nodeId } as unknown as Json;
  addConsequence(scope, node, { output, timestamp: at, attempt: attempts + 1, error: reason, pathId, version });
}

function giveUp(scope: ScopeDraft): boolean {
  const { ending, root } = scope;
  if (!ending?.again) return false;
  scope.paths = [];
  scope.ended = ending.status;
  scope.error = ending.error;
  scope.ending = undefined;
  root.endedPathCount++;
  return true;
}

export function applyItemAdded(scope: ScopeDraft, { pathId, item }: ItemAddedEvent): boolean {
  const children = pathWith(scope, pathId)?.children;
  if (!children?.map?.open) return false;
  const key = scopedKey(scope.key, children.key);
  scope.root.mapItems.set(key, Object.freeze([...scope.root.mapItems.get(key)!, item]));
  countItems(children, { total: children.map.total + 1 });
  return true;
}

export function applyMapClosed(scope: ScopeDraft, { pathId, completes }: MapClosedEvent): boolean {
  const children = pathWith(scope, pathId)?.children;
  if (!children?.map || (!completes && !children.map.open)) return false;
  const { open: _, ...closed } = children.map;
  children.map = Object.freeze(completes ? { ...closed, completeWhen: 0, remaining: "cancel" as const } : closed);
  return true;
}
