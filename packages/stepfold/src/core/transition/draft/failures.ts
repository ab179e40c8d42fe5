import type { ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

/**
 * Reports to a replay that a path fails, or a scope without a path that does (null). A failure that follows from an event is reported just
 * before anything changes by it; a step that has failed by the event itself is reported later.
 */
export function reportFailure(scope: ScopeDraft, path: DraftPath | null): void {
  scope.root.onFailure?.(scope, path);
}
