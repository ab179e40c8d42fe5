import type { ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

/**
 * Notes for a replay that a path fails, or a scope without a path that does (null). A failure that follows from an event is noted just
 * before anything changes by it; a step that has failed by the event itself is noted later.
 */
export function noteFailure(scope: ScopeDraft, path: DraftPath | null): void {
  scope.root.onFailure?.(scope, path);
}
