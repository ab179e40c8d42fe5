import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Page } from "../../ports/snapshot-store.ts";

/**
 * What to do with a tick while the execution of an earlier one still runs: `skip` passes it over, `queue` starts it after that one,
 * `cancel` cancels that one and starts it once that has ended, `allow` starts it at once.
 */
export type OverlapPolicy = "skip" | "queue" | "cancel" | "allow";

/** What a schedule starts, and when. Exactly one of `cron`, `every` and `at` says the ticks. */
export interface ScheduleSpec {
  /** Id of the workflow: each tick runs the definition that has this id then. */
  readonly workflow: string;
  /** Input of each execution. Default: `{ schedule: "nightly", at: "2026-11-22T02:00:00Z" }`. */
  readonly input?: unknown;
  /** Metadata of each execution. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Cron expressions of five fields, or six with seconds first, or seven with the year last; or `@hourly`, `@daily`, ... Of several (ten at most) each ticks. */
  readonly cron?: string | readonly string[] | undefined;
  /** Time zone of `cron`: `"Europe/Vienna"`. Default `"UTC"`. */
  readonly zone?: string | undefined;
  /** Ticks at whole multiples of this since 1970, UTC. From one second on. */
  readonly every?: Duration | undefined;
  /** With `every`: how much later than the multiples. */
  readonly offset?: Duration | undefined;
  /** One tick: ISO 8601, or milliseconds since 1970. */
  readonly at?: string | EpochMs | undefined;
  /** No tick before this. */
  readonly startAt?: string | EpochMs | undefined;
  /** No tick after this: the schedule then ends. */
  readonly endAt?: string | EpochMs | undefined;
  /** The schedule ends after so many starts by ticks. */
  readonly count?: number | undefined;
  /** Default `skip`. */
  readonly overlap?: OverlapPolicy | undefined;
  /** How late a tick may be started because no worker ran; one that is later is missed. Default: one day. */
  readonly catchUpWindow?: Duration | undefined;
  /** Each tick starts later by a part of this that its time and the name of the schedule decide, but before the next tick. Default 0. */
  readonly jitter?: Duration | undefined;
}

/** How a schedule is made. */
export interface CreateScheduleOptions {
  /** Whose schedule it is, and whose are the executions that it starts. The name is unique over all tenants. */
  readonly tenant?: string | undefined;
  /** True, or why, as text: it begins paused. */
  readonly paused?: boolean | string | undefined;
}

/** Which past ticks to start. */
export interface BackfillOptions {
  /** First and last tick, both inclusive; not in the future. */
  readonly from: string | EpochMs;
  readonly to: string | EpochMs;
  /** `queue` (default) starts one after the other, `allow` all at once. */
  readonly overlap?: "queue" | "allow" | undefined;
}

/** A tick whose execution could not be started. */
export interface ScheduleProblem {
  readonly at: EpochMs;
  readonly workflowId: string;
  readonly code: string;
  readonly message: string;
}

/** A schedule, and where it stands. */
export interface ScheduleDescription {
  readonly name: string;
  /** The execution that it is now. */
  readonly workflowId: string;
  readonly tenant?: string;
  readonly status: "active" | "paused" | "ended";
  /** Why it is paused, if that was said. */
  readonly note?: string;
  /** As it was given, with every duration and time in milliseconds, and every default. */
  readonly spec: ScheduleSpec;
  /** Rises with every edit. 1 for the first. */
  readonly generation: number;
  /** The next ticks, ten at most; none while it is paused. */
  readonly nextTicks: readonly EpochMs[];
  readonly lastTick: EpochMs | null;
  /** Executions that still run, where `overlap` has to know. */
  readonly running: readonly string[];
  /** Ticks that wait for these. */
  readonly queued: readonly EpochMs[];
  /** Ticks that were started, passed over because an earlier one ran, and too late for `catchUpWindow`. */
  readonly counts: { readonly started: number; readonly skipped: number; readonly missed: number };
  /** The latest ticks that could not be started, ten at most. */
  readonly problems: readonly ScheduleProblem[];
}

/** Which schedules to list. */
export interface ScheduleListQuery {
  readonly tenant?: string | undefined;
  /** Ended ones too. */
  readonly ended?: boolean | undefined;
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/**
 * Schedules: each is one execution, `schedule:NAME`, that starts others. Every change is a command to that execution: it is committed when
 * the call resolves, and whatever was due before it is started as it was before.
 */
export interface Schedules {
  /**
   * Makes a schedule. Said again with the same, it changes nothing, also once it has come to its end by itself. A name can be used again for
   * something else after the end, and for the same after it was deleted.
   *
   * ```ts
   * await runtime.schedules.create("nightly", { workflow: "report", cron: "0 2 * * *", zone: "Europe/Vienna" });
   * ```
   *
   * @throws StepfoldError `SCHEDULE_EXISTS` if there is one that says something else, `SCHEDULE_INVALID`, `STORE_UNAVAILABLE`
   */
  create(name: string, spec: ScheduleSpec, options?: CreateScheduleOptions): Promise<ScheduleDescription>;
  /**
   * Makes a schedule, or edits the one there is so that it says this. One that has ended with the same stays ended. For schedules that are
   * declared in code.
   *
   * @throws StepfoldError `SCHEDULE_INVALID`, `STORE_UNAVAILABLE`
   */
  put(name: string, spec: ScheduleSpec, options?: CreateScheduleOptions): Promise<ScheduleDescription>;
  /**
   * Changes members of the specification; `undefined` takes one away. Ticks before this are started as it was.
   *
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED`, `SCHEDULE_INVALID`
   */
  edit(name: string, changes: Partial<ScheduleSpec>): Promise<ScheduleDescription>;
  /** From now on no tick is started. @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED` */
  pause(name: string, note?: string): Promise<void>;
  /** From now on ticks are started again; those of the pause are not. @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED` */
  resume(name: string): Promise<void>;
  /**
   * Starts an execution at once, also while the schedule is paused, and whatever runs.
   *
   * @returns the id that the execution will have
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED`
   */
  trigger(name: string): Promise<{ readonly workflowId: string }>;
  /**
   * Starts past ticks of the rule as it is now. A tick that was started before is not started again.
   *
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED`, `OPTION_INVALID`
   */
  backfill(name: string, options: BackfillOptions): Promise<void>;
  /** Ends the schedule. What it has started goes on. @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED` */
  delete(name: string): Promise<void>;
  /** @throws StepfoldError `SCHEDULE_NOT_FOUND` */
  describe(name: string): Promise<ScheduleDescription>;
  /** Schedules, the newest first, a page at a time. @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE` */
  list(query?: ScheduleListQuery): Promise<Page<ScheduleDescription>>;
}
