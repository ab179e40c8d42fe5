import type { Draft } from "./draft.ts";

/** R9: what follows from an event once its path has moved. With no path left the execution is complete. */
export function settle(draft: Draft): void {
  if (draft.ended || draft.paths.length > 0) return;
  draft.ended = "completed";
}
