import type { ErrorInfo } from "../../errors/error-info.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { noteFailure } from "../draft/failures.ts";
import { endPath, giveUpStep, stop } from "./end-path.ts";
import { leave } from "./leave.ts";

/**
 * Lets a path whose node has failed leave by the handle. If `handle` is undefined, the scope fails: at once or, with `onFailure: "finish"`,
 * when its other paths have ended.
 */
export function failPath(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, handle: string | undefined, version: number): void {
  if (handle === undefined || scope.workflow.code) noteFailure(scope, path);
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
  scope.failedNodeId ??= path.nodeId;
  endPath(scope, path, null);
}
