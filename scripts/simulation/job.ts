import type { ScheduleOptions } from "../../packages/stepfold/src/testing/simulation/scenario.ts";

/** Schedules that one thread runs, one after the other. */
export interface Job {
  /** Of the first; each further one has the next. */
  readonly seed: number;
  readonly schedules: number;
  readonly options: Omit<ScheduleOptions, "seed">;
  /** The mistake that is made in them, if any. Without one a failure is made as small as it gets. */
  readonly mutant: string | null;
  /** More rescues in one schedule, on average, break a rule as well. */
  readonly mostRescues?: number;
  /** Then its schedules are days instead, each with so many schedules of the library. */
  readonly schedulesADay?: number;
}

/** A rule that was broken. */
export interface Finding {
  readonly options: ScheduleOptions;
  readonly invariant: string;
  readonly message: string;
}

/** What came of a job. */
export interface JobResult {
  readonly schedules: number;
  readonly commits: number;
  readonly steps: number;
  readonly repeated: number;
  readonly rescues: number;
  /** Days that passed, and ticks that were started in them. */
  readonly days?: number;
  readonly ticks?: number;
  /** Schedules, or days, that broke a rule. */
  readonly violations: number;
  /** Of the first of them. */
  readonly findings: readonly Finding[];
}
