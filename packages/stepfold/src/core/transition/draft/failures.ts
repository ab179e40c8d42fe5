import type { ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

/**
 * Tells a replay that a path fails, or a scope without a path that does (null). A failure that follows from an event is told just before
 * anything changes by it; a step that has failed by the event itself is told later.
 */
export function tellFailure(scope: ScopeDraft, path: DraftPath | null): void {
  scope.root.onFailure?.(scope, path);
}
