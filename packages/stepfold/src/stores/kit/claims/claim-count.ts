import type { Claim } from "../../../ports/snapshot-store.ts";

/** Two counts of an execution, since the last commit of a holder. */
export type ClaimCounts = Pick<Claim, "expired" | "crashes">;

// Both counts lie in one number of the row, so that taking over a claim that ran out is one addition wherever it is made. A holder
// counts its own crash in advance, when it begins: a process that dies has no later chance.
const crashUnit = 1_000_000;

/** What the number of a row says, to somebody who has just claimed it. */
export function countsIn(crashes: number): ClaimCounts {
  return { expired: crashes % crashUnit, crashes: Math.floor(crashes / crashUnit) };
}

/** What it says while it is held: the crash that the holder has counted in advance is none yet. */
export function crashesOfEnded(count: number): number {
  const { expired, crashes } = countsIn(count);
  return Math.min(expired, crashes);
}

/** The number of a row while nobody holds it, or its holder has not begun. */
export function countOf({ expired, crashes }: ClaimCounts): number {
  return expired + crashes * crashUnit;
}

/** The number of a row once its holder has begun. */
export function begunCountOf(counts: ClaimCounts): number {
  return countOf(counts) + crashUnit;
}
