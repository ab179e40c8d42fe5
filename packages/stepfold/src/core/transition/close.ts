import type { EpochMs } from "../values/json.ts";
import type { Draft } from "./draft/draft.ts";
import { beginClosing, endClosing } from "./paths/finally.ts";
import { settle } from "./settle.ts";

/** Of an execution whose end is decided: begins the nodes that run at its end; once they have run, ends it as was decided. */
export function close(draft: Draft, at: EpochMs): void {
  if (!draft.closing) {
    if (!beginClosing(draft, draft.version + 1)) return;
    settle(draft, at);
  }
  if (draft.ended) endClosing(draft);
}
