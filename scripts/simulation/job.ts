import type { ScheduleOptions } from "../../packages/stepfold/src/testing/simulation/scenario.ts";

/**
 * What the schedules of a job run: random programs (`randomScenario`), such programs as code (`randomCode`), executions that live long (`randomLives`, `randomCodeLives`), or crowds that share limits
 * (`randomCrowd`).
 */
export type Family = "programs" | "code" | "lives" | "code-lives" | "crowds";

/** A number of schedules that one thread runs, one after the other. */
export interface Job {
  /** The seed of the first schedule; each further schedule has the next number. */
  readonly seed: number;
  readonly schedules: number;
  readonly options: Omit<ScheduleOptions, "seed">;
  /** The name of the mutant, if any. Without a mutant, a failing schedule is shrunk. */
  readonly mutant: string | null;
  /** The largest average number of rescues in one schedule; more of them break a rule. Default: no limit. */
  readonly mostRescues?: number;
  /** What the schedules run. Default: `programs`. */
  readonly family?: Family;
  /** If present, the job runs days instead, each with so many schedules of the library. */
  readonly schedulesADay?: number;
}

/** A rule that was broken. */
export interface Finding {
  readonly options: ScheduleOptions;
  readonly invariant: string;
  readonly message: string;
}

/** The result of a job. */
export interface JobResult {
  readonly schedules: number;
  readonly commits: number;
  readonly steps: number;
  readonly repeated: number;
  readonly rescues: number;
  /** The numbers of days, and of ticks that were started in them. */
  readonly days?: number;
  readonly ticks?: number;
  /** The number of schedules, or days, that broke a rule. */
  readonly violations: number;
  /** The broken rules of the first of them. */
  readonly findings: readonly Finding[];
}
