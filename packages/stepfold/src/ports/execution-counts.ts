import type { Status } from "../core/snapshot/snapshot.ts";
import type { EpochMs } from "../core/values/json.ts";

/** How many executions there are of each status. */
export interface ExecutionCounts {
  /** Of each status at most as many as were asked for. */
  readonly counts: Readonly<Record<Status, number>>;
  /** There may be more of a status than are counted: it reached the number that was asked for. */
  readonly capped: boolean;
  /** False: the store looked at as many executions as it does in one call, and there may be more of any status. */
  readonly complete: boolean;
  /** How many executions it looked at. Absent: the database counted by itself. */
  readonly looked?: number;
}

/** Which time to look at. */
export interface SeriesQuery {
  /** Ended then or later. */
  readonly from: EpochMs;
  /** Ended before. */
  readonly to: EpochMs;
  /** In how many parts of the same length the time is divided: 1 to 120. */
  readonly buckets: number;
  /** Only executions of this workflow definition. */
  readonly definitionId?: string;
}

/** An end that an execution has come to. */
export type EndStatus = Extract<Status, "completed" | "failed" | "cancelled">;

/** What has ended in one part of a time. */
export interface EndedBucket {
  readonly from: EpochMs;
  /** Of each status how many took how long, by the classes of `durationBoundsMs`. */
  readonly durations: Readonly<Record<EndStatus, readonly number[]>>;
}

/** What has ended in a time, part by part. */
export interface EndedSeries {
  /** The oldest first. */
  readonly buckets: readonly EndedBucket[];
  /** False: the store looked at as many executions as it does in one call, and more may have ended. */
  readonly complete: boolean;
  /** How many executions it looked at. Absent: the database counted by itself. */
  readonly looked?: number;
}

/** Where the eleven classes of durations end, in milliseconds; what took as long or longer than the last is in the last class. */
export const durationBoundsMs: readonly number[] = [
  ...[100, 1_000, 5_000, 30_000, 120_000, 600_000],
  ...[3_600_000, 21_600_000, 86_400_000, 604_800_000],
];

/** The class that a duration is in. */
export function durationClassOf(durationMs: number): number {
  return durationBoundsMs.filter((bound) => durationMs >= bound).length;
}
