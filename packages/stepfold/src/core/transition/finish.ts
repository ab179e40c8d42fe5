import type { Draft } from "./draft/draft.ts";
import { enqueueEnd } from "./draft/outbox.ts";
import { forgetChildren } from "./paths/end-path.ts";
import { holdOpen } from "./paths/undo.ts";

/**
 * Finishes an execution that has just ended. It becomes open again if a compensation failed (see `holdOpen`) or if messages must still be
 * delivered (see `enqueueEnd`).
 *
 * @param givesUp true if failed compensations are not tried again
 */
export function finish(draft: Draft, version: number, givesUp = false): void {
  draft.begun = [];
  const isHeld = !givesUp && draft.compensations.length > 0 && holdOpen(draft, version);
  forgetChildren(draft);
  if (!isHeld) enqueueEnd(draft);
}
