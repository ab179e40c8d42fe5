import type { ResumedEvent } from "../../snapshot/event.ts";
import type { Answer, Resumed, Wait } from "../../snapshot/snapshot.ts";
import type { DraftPath } from "../draft/draft-path.ts";

/** Makes a suspended path perform its node again, and withdraws all its waits. */
export function wake(path: DraftPath, wait: Wait, why: Resumed): void {
  path.status = "ready";
  path.turn++;
  path.waits = undefined;
  path.resumed = Object.freeze(wait.payload === undefined ? why : { ...why, suspendPayload: wait.payload });
}

/** Records an answer to a wait. The path wakes unless the wait needs more answers. */
export function answer(path: DraftPath, wait: Wait, { by, payload, who, at }: ResumedEvent): void {
  const why: Resumed = { by, ...(payload !== undefined && { payload }), ...(who !== undefined && { who }) };
  if (by === "timer" || wait.quorum === undefined) {
    wake(path, wait, why);
    return;
  }
  const given: Answer = Object.freeze(payload === undefined ? { by: who!, at } : { by: who!, at, payload });
  const answers = Object.freeze([...(wait.answers ?? []), given]);
  if (isDecided(wait, answers)) {
    wake(path, wait, { ...why, answers });
    return;
  }
  path.waits = Object.freeze(path.waits!.map((open) => (open === wait ? Object.freeze({ ...wait, answers }) : open)));
}

/**
 * True if no further answer can change the result of a wait: its quorum is reached or, where answers differ in kind,
 * can no longer be reached.
 */
function isDecided({ quorum = 1, tally, responders }: Wait, answers: readonly Answer[]): boolean {
  if (tally === undefined) return answers.length >= quorum;
  const favourable = answers.filter((given) => isFor(given, tally)).length;
  const against = answers.length - favourable;
  return favourable >= quorum || against >= (responders ? responders.length - quorum + 1 : quorum);
}

/** True if an answer counts for the quorum. */
export function isFor({ payload }: Answer, tally: string): boolean {
  return (
    typeof payload === "object" && payload !== null && Object.hasOwn(payload, tally) && (payload as Record<string, unknown>)[tally] === true
  );
}
