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

/** Where that lies which is due for at least so long, longest due first. */
export function dueSpans(overdueMs: number): readonly DueSpan[] {
  // what is due now is below zero; older versions wrote 0 for it
  return overdueMs === 0
    ? [{ from: -Number.MAX_SAFE_INTEGER, behindMs: 0 }]
    : [
        { from: -Number.MAX_SAFE_INTEGER, behindMs: overdueMs + nowLiesBackMs },
        { from: 0, behindMs: overdueMs },
      ];
}
