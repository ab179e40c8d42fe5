import type { InEvents } from "../snapshot/parts/in-events.ts";
import type { Answer, Resumed, Wait } from "../snapshot/parts/wait.ts";
import type { EpochMs } from "../values/json.ts";
import { lastMs } from "../values/timestamp.ts";

/** Moves the times of a wait. */
export function movedWait(wait: Wait, laterMs: number): Wait {
  const { openedAt, resumeAt, timeoutAt, ...rest } = withoutReferences(wait);
  return {
    ...rest,
    ...(openedAt !== undefined && { openedAt: later(openedAt, laterMs) }),
    ...(resumeAt !== undefined && { resumeAt: later(resumeAt, laterMs) }),
    ...(timeoutAt !== undefined && { timeoutAt: later(timeoutAt, laterMs) }),
  };
}

/** Moves what a step was resumed with. Waits that may open again (`reopens`) keep the time that was left to them. */
export function movedResumed(resumed: Resumed, laterMs: number): Resumed {
  const { reopens, ...rest } = withoutReferences(resumed);
  if (!reopens) return rest;
  return { ...rest, reopens: { ...reopens, waits: reopens.waits.map((wait) => movedWait(wait, laterMs)) } };
}

/** Removes the references to events, because these are events of another execution, or were before a restart. The holder has the values. */
export function withoutReferences<H extends InEvents & { readonly answers?: readonly Answer[] }>(holder: H): H {
  const { inEvents: _, ...rest } = holder;
  const { answers } = holder;
  return (answers ? { ...rest, answers: answers.map(withoutReferences) } : rest) as H;
}

/** Returns a time moved by `laterMs`, but at most the last time that a `Date` can hold. */
export function later(at: EpochMs, laterMs: number): EpochMs {
  return Math.min(at + laterMs, lastMs);
}
