import { scopedKey } from "../../snapshot/address.ts";
import type { AnswerRefusedEvent } from "../../snapshot/event.ts";
import { forgetKey } from "../../snapshot/parts/answered-key.ts";
import type { Refusal } from "../../snapshot/parts/refusal.ts";
import type { Reopening, Resumed, Wait } from "../../snapshot/parts/wait.ts";
import type { ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";
import { sizeOfResumed, sizeOfWaits, subtractSize } from "./held-size.ts";

/**
 * Opens the waits of a path again, because the code of its node has refused the answer. The waits get new ids, since the turn rises; their
 * deadlines stay as they were.
 */
export function reopen({ root, key }: ScopeDraft, path: DraftPath, reopens: Reopening, { at, issues }: AnswerRefusedEvent): void {
  const resumed = path.resumed!;
  const { who } = resumed;
  path.status = "suspended";
  path.turn++;
  path.attempts = 0;
  path.nextRetryAt = undefined;
  path.resumed = undefined;
  const name = scopedKey(key, `${path.id}@${path.turn}`);
  const waits = reopens.waits.map((wait, i) => {
    const { id, firstId = id } = wait;
    const { refused: _, ...again } = { ...withPayload(wait, resumed), id: i === 0 ? name : `${name}.${i}`, firstId };
    return id === reopens.waitId ? again : { ...again, ...(wait.refused && { refused: wait.refused }) };
  });
  subtractSize(root, sizeOfResumed(resumed) - sizeOfWaits(waits));
  const refused: Refusal = Object.freeze({ at, ...(who !== undefined && { who }), issues });
  path.waits = Object.freeze(waits.map((wait, i) => Object.freeze(reopens.waits[i]!.id === reopens.waitId ? { ...wait, refused } : wait)));
  // the caller may answer once more under the same key
  if (reopens.version !== undefined) forgetKey(root, reopens.version);
}

/** Returns a wait with its payload. `Reopening` stores waits without it, because `suspendPayload` of the answered step holds it. */
function withPayload(wait: Wait, { suspendPayload, inEvents }: Resumed): Wait {
  if (suspendPayload === undefined) return wait;
  const at = inEvents?.suspendPayload;
  return { ...wait, payload: suspendPayload, ...(at !== undefined && { inEvents: { ...wait.inEvents, payload: at } }) };
}
