import type { Claim } from "../../../ports/snapshot-store.ts";

/** The two counts of lost claims of an execution, since the last commit of a holder. */
export type ClaimCounts = Pick<Claim, "expired" | "crashes">;

// The column `crashes` of a row holds both counts: `expired + crashes * crashUnit`. So taking over a claim that ran out only adds 1, in
// every database. A holder counts its own crash in advance, when it begins, because a process that dies has no later chance.
const crashUnit = 1_000_000;

/** Reads both counts from the column of a row that was just claimed. */
export function countsInColumn(crashes: number): ClaimCounts {
  return { expired: crashes % crashUnit, crashes: Math.floor(crashes / crashUnit) };
}

/**
 * Reads the number of crashes of a row that is held. There are never more crashes than expired claims, so the crash that the present holder
 * has counted in advance is left out if all holders before had begun. Else it cannot be told apart, and the result may be 1 too high.
 */
export function crashesOfEnded(count: number): number {
  const { expired, crashes } = countsInColumn(count);
  return Math.min(expired, crashes);
}

/** The value of the column while the row is not held, or its holder has not begun. */
export function crashesColumnOf({ expired, crashes }: ClaimCounts): number {
  return expired + crashes * crashUnit;
}

/** The value of the column once the holder has begun. */
export function crashesColumnWhenBegun(counts: ClaimCounts): number {
  return crashesColumnOf(counts) + crashUnit;
}
