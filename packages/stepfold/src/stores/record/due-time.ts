import type { EpochMs } from "../../core/values/json.ts";

/**
 * What is due now comes before whatever has a time, and is due for everybody, whatever their clocks say. And yet it can be
 * told since when it is due: it lies so far before the commit that said so, which is below zero.
 */
export const nowLiesBackMs = 10_000_000_000_000;

/** When an execution that nobody holds is due, as an index keeps it. */
export function dueAtOf(wakeAt: EpochMs | null, now: EpochMs): EpochMs | null {
  return wakeAt === null || wakeAt > 0 ? wakeAt : now - nowLiesBackMs;
}

/** The same for one that is not new: what was due now before still is, since then. */
export function laterDueAtOf(wakeAt: EpochMs | null, now: EpochMs, before: EpochMs | null): EpochMs | null {
  const isDueAnyway = wakeAt !== null && wakeAt <= 0 && before !== null && before <= 0;
  return isDueAnyway ? before : dueAtOf(wakeAt, now);
}

/** A part of that index: from a place on, up to so long before now. */
export interface DueSpan {
  readonly from: EpochMs;
  readonly behindMs: number;
}

/** Where that lies which is due for at least so long, longest due first; `timedOnly`: without what is due now. */
export function dueSpans({ overdueMs, timedOnly }: { readonly overdueMs: number; readonly timedOnly: boolean }): readonly DueSpan[] {
  const timed = { from: timedOnly ? 1 : 0, behindMs: overdueMs };
  if (timedOnly) return [timed];
  // what is due now is below zero; older versions wrote 0 for it
  const from = -Number.MAX_SAFE_INTEGER;
  return overdueMs === 0 ? [{ from, behindMs: 0 }] : [{ from, behindMs: overdueMs + nowLiesBackMs }, timed];
}
