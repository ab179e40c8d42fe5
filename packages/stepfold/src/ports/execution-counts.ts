import type { Status } from "../core/snapshot/snapshot.ts";
import type { EpochMs } from "../core/values/json.ts";

/** How many executions there are of each status. */
export interface ExecutionCounts {
  /** The count of each status, at most `atMost` of the call. A status that was not asked for has 0. */
  readonly counts: Readonly<Record<Status, number>>;
  /** True: at least one count reached `atMost`, so there may be more executions of that status. */
  readonly capped: boolean;
  /** False: the store reached the number of executions that it looks at in one call, so there may be more of every status. */
  readonly complete: boolean;
  /** How many executions the store looked at. Absent: the database counted by itself. */
  readonly looked?: number;
}

/** The period that a series covers, and its parts. */
export interface SeriesQuery {
  /** Executions that ended at this time or later. */
  readonly from: EpochMs;
  /** Executions that ended before this time. */
  readonly to: EpochMs;
  /** The number of parts into which the period is divided: 1 to 120. They have the same length, in whole milliseconds. */
  readonly buckets: number;
  /** Only executions of this workflow definition. */
  readonly definitionId?: string | undefined;
}

/** The status of an execution that has ended. */
export type EndStatus = Extract<Status, "completed" | "failed" | "cancelled">;

/** The executions that ended in one part of the period. */
export interface EndedBucket {
  /** The beginning of this part. */
  readonly from: EpochMs;
  /** For each status: how many executions ended, in each of the eleven classes of durations (see `durationBoundsMs`). */
  readonly durations: Readonly<Record<EndStatus, readonly number[]>>;
}

/** The executions that ended in a period, part by part. */
export interface EndedSeries {
  /** The oldest first. */
  readonly buckets: readonly EndedBucket[];
  /** False: the store reached the number of executions that it looks at in one call, so more may have ended. */
  readonly complete: boolean;
  /** How many executions the store looked at. Absent: the database counted by itself. */
  readonly looked?: number;
}

/** The ends (exclusive) of the first ten classes of durations, in milliseconds. The eleventh class holds all longer durations. */
export const durationBoundsMs: readonly number[] = [
  ...[100, 1_000, 5_000, 30_000, 120_000, 600_000],
  ...[3_600_000, 21_600_000, 86_400_000, 604_800_000],
];

/** The index of the class of a duration, 0 to 10. */
export function durationClassOf(durationMs: number): number {
  return durationBoundsMs.filter((bound) => durationMs >= bound).length;
}
