import type { ErrorInfo } from "../../errors/error-info.ts";
import type { Ending } from "../../snapshot/snapshot.ts";
import { markChanged } from "../draft/add-result.ts";
import { isChild, type ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { endPath, giveUpStep } from "./end-path.ts";
import { leave } from "./leave.ts";
import { firstUndo, scopesToUndo } from "./undo.ts";

/** Lets a path whose node failed leave by the handle, if the failure has one; otherwise fails the scope. */
export function failPath(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, handle: string | undefined, version: number): void {
  giveUpStep(scope, path);
  if (handle !== undefined) {
    leave(scope, path, [handle], version);
    return;
  }
  if (scope.workflow.definition.onFailure !== "finish") {
    stop(scope, "failed", path.nodeId, error, version);
    return;
  }
  scope.error ??= error;
  scope.failedAt ??= path.nodeId;
  endPath(scope, path, null);
}

/**
 * Ends a scope before its time. Every path of it ends, and every child. Where something can be undone, that comes first
 * (docs/path-semantics.md, "Endings").
 */
export function stop(
  scope: ScopeDraft,
  status: Ending["status"],
  nodeId: string | null,
  failure: ErrorInfo | undefined,
  version: number,
): void {
  // with onFailure "finish" there may be an earlier failure
  const error = failure ?? scope.error;
  clear(scope, true);
  const begun = takeBegun(scope);
  scope.failedAt = nodeId;
  scope.output = undefined;
  scope.error = error;
  scope.ending = Object.freeze(error ? { status, nodeId, error, begun } : { status, nodeId, begun });
  if (firstUndo(scope, version)) return;
  scope.ending = undefined;
  scope.ended = status;
}

/** Ends all paths of a scope because a node has ended the scope. */
export function terminate(scope: ScopeDraft): void {
  clear(scope, false);
}

function clear(scope: ScopeDraft, all: boolean): void {
  for (const path of [...scope.paths]) endPath(scope, path, null, all);
  scope.groups = null;
}

const nothing: Ending["begun"] = Object.freeze([]);

/** What was begun and did not complete, here and in all children that are kept, the latest first: it is undone now. */
function takeBegun(scope: ScopeDraft): Ending["begun"] {
  if (!scope.workflow.compensates) return nothing;
  const begun: Ending["begun"][number][] = [];
  for (const place of scopesToUndo(scope)) {
    if (place.begun.length === 0) continue;
    for (const step of place.begun) begun.push(Object.freeze(isChild(place) ? { scope: place.key, ...step } : step));
    place.begun = [];
    markChanged(place, scope.root.version + 1);
  }
  return Object.freeze(begun.reverse());
}
