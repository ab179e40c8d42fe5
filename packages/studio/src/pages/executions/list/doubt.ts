import type { ListedExecution } from "stepfold/client";
import type { EpochMs } from "stepfold/core";
import type { ListRow } from "./list-state.ts";

/** A row that was told longer ago says nothing of the present. */
const freshMs = 8_000;
/** A row that was told longer ago is read again if time alone has changed what it says. */
const lookMs = 3_500;
/** What is due is taken within this time, if anybody takes it. */
const takenMs = 1_000;

// the engine's own words for it would bring its code into the first page
const ended: ReadonlySet<ListedExecution["status"]> = new Set(["completed", "failed", "cancelled"]);

/** True if a row was told so short a time ago that it says how things are now. */
export function isFresh(toldAt: EpochMs, now: EpochMs): boolean {
  return now - toldAt <= freshMs;
}

/** True if it is known that nobody has taken what was due at a time: the row was told long enough after it, and not long ago. */
export function isLeft(dueAt: EpochMs, toldAt: EpochMs, now: EpochMs): boolean {
  return toldAt - dueAt >= takenMs && isFresh(toldAt, now);
}

/** True if a time has come since a row was told, so that something has probably happened that the row does not show. */
export function isDoubtful({ row, toldAt }: ListRow, now: EpochMs): boolean {
  // a process that holds the execution does what is due, so a time that has come is no doubt while its lease lasts
  if (now - toldAt <= lookMs || ended.has(row.status) || (row.lease && row.lease.until > now)) return false;
  return timesOf(row).some((at) => at <= now);
}

function timesOf({ wakeAt, waiting, retry, parked }: ListedExecution): EpochMs[] {
  return [wakeAt, waiting?.until, retry?.at, parked?.until].filter((at) => typeof at === "number");
}
