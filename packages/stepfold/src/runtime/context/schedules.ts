import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Page } from "../../ports/execution-list.ts";

/**
 * What happens to a tick while the execution of an earlier tick still runs: `skip` skips the tick, `queue` starts it after the running
 * execution has ended, `cancel` cancels the running execution and starts the tick after its end, `allow` starts the tick at once.
 */
export type OverlapPolicy = "skip" | "queue" | "cancel" | "allow";

/** What a schedule starts, and when. A tick is a time at which it starts an execution. Exactly one of `cron`, `every` and `at` is given. */
export interface ScheduleSpec {
  /** Id of the workflow. Each tick runs the definition that has this id at that time. */
  readonly workflow: string;
  /** Input of each execution. Default: the name of the schedule and the tick: `{ schedule: "nightly", at: "2026-11-22T02:00:00Z" }`. */
  readonly input?: unknown;
  /** Metadata of each execution. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /**
   * A cron expression, or a list of at most ten, each of which ticks. An expression has five fields, or six with seconds first, or seven
   * with the year last; or it is a name: `@hourly`, `@daily`, ...
   */
  readonly cron?: string | readonly string[] | undefined;
  /** Time zone of `cron`, and of `at`, `startAt` and `endAt` without an offset: `"Europe/Vienna"`. Default of `cron`: `"UTC"`. */
  readonly zone?: string | undefined;
  /** The schedule ticks at whole multiples of this duration since 1970, UTC. At least one second. */
  readonly every?: Duration | undefined;
  /** With `every`: how much later than these multiples the ticks are. */
  readonly offset?: Duration | undefined;
  /** The only tick: ISO 8601 with an offset, or without one beside a `zone`; or milliseconds since 1970. */
  readonly at?: string | EpochMs | undefined;
  /** No tick before this. Written as `at`. */
  readonly startAt?: string | EpochMs | undefined;
  /** No tick after this: the schedule then ends. Written as `at`. */
  readonly endAt?: string | EpochMs | undefined;
  /** How many ticks start an execution before the schedule ends; triggers and backfills do not count. Default: no limit. */
  readonly count?: number | undefined;
  /** Default `skip`. */
  readonly overlap?: OverlapPolicy | undefined;
  /** How late a tick may start, for example because no worker ran. A tick that is later counts as missed. Default: one day. */
  readonly catchUpWindow?: Duration | undefined;
  /**
   * The longest delay of a tick. Each tick starts later by a part of it, but before the next tick. The part depends only on the time of the
   * tick and the name of the schedule. Default 0.
   */
  readonly jitter?: Duration | undefined;
}

/** How a schedule is made. */
export interface CreateScheduleOptions {
  /** The tenant of the schedule and of the executions that it starts. Names of schedules are unique over all tenants. */
  readonly tenant?: string | undefined;
  /** The schedule begins paused: true, or the reason as text. */
  readonly paused?: boolean | string | undefined;
}

/** Which past ticks to start. */
export interface BackfillOptions {
  /** First and last tick, both inclusive; not in the future. ISO 8601 with an offset, or milliseconds since 1970. */
  readonly from: string | EpochMs;
  readonly to: string | EpochMs;
  /** `queue` (default) starts one after the other, `allow` all at once. */
  readonly overlap?: "queue" | "allow" | undefined;
}

/** How a schedule is triggered. */
export interface TriggerOptions {
  /**
   * Calls with the same key start one execution, however often they are made: 1 to 255 characters. A schedule knows a key
   * for at least 7 days (`limits.idempotencyKeyMs`). After that, a key still counts once for as long as the execution exists that it has
   * started, and its id stays taken after a deletion. Default: each call starts one.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A tick whose execution could not be started, or a command that could not be applied. */
export interface ScheduleProblem {
  /** The tick, or the time of the command. Of a command without a usable time: the time up to which ticks were decided. */
  readonly at: EpochMs;
  /** The id that the execution would have; for a command the id of the schedule. */
  readonly workflowId: string;
  readonly code: string;
  readonly message: string;
}

/** A schedule and its current state. */
export interface ScheduleDescription {
  readonly name: string;
  /** Id of the execution that the schedule is: `schedule:` and its name. */
  readonly workflowId: string;
  readonly tenant?: string;
  readonly status: "active" | "paused" | "ended";
  /** Why the schedule is paused, if a reason was given. */
  readonly note?: string;
  /** The specification as it was given, with all durations and times in milliseconds, and with all defaults. */
  readonly spec: ScheduleSpec;
  /** 1 at the beginning; rises with every edit. */
  readonly generation: number;
  /** The next ticks, ten at most; none while the schedule is paused, or after it has ended. */
  readonly nextTicks: readonly EpochMs[];
  /** The latest tick, even if it was skipped or missed; null before the first one. */
  readonly lastTick: EpochMs | null;
  /**
   * Ids of executions that still run and that later ticks may have to wait for, 100 at most. With `overlap: "allow"` ticks are not here.
   */
  readonly running: readonly string[];
  /** Ticks that wait until the executions of `running` have ended. */
  readonly queued: readonly EpochMs[];
  /** How many executions were started, and how many ticks were skipped because of `overlap`, or missed because of `catchUpWindow`. */
  readonly counts: { readonly started: number; readonly skipped: number; readonly missed: number };
  /** The latest problems, ten at most. */
  readonly problems: readonly ScheduleProblem[];
}

/** Which schedules to list. */
export interface ScheduleListQuery {
  /** Only schedules of this tenant. */
  readonly tenant?: string | undefined;
  /** True: schedules that have ended are listed too. */
  readonly ended?: boolean | undefined;
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/**
 * The schedules of a runtime. A schedule is an execution that starts others: `schedule:NAME`. Every change is
 * a command to that execution, and is committed when the call resolves. Ticks that were due before the change still start without the
 * change.
 */
export interface Schedules {
  /**
   * Creates a schedule. A second call with the same specification changes nothing, even after the schedule has ended by itself. After the
   * end, the name can be used again with another specification; after a `delete`, also with the same one.
   *
   * ```ts
   * await runtime.schedules.create("nightly", { workflow: "report", cron: "0 2 * * *", zone: "Europe/Vienna" });
   * ```
   *
   * @throws StepfoldError `SCHEDULE_EXISTS` if the schedule has another specification, `SCHEDULE_INVALID`, `STORE_UNAVAILABLE`
   */
  create(name: string, spec: ScheduleSpec, options?: CreateScheduleOptions): Promise<ScheduleDescription>;
  /**
   * Creates a schedule, or edits the existing one so that it has this specification. A schedule that has ended with the same specification
   * stays ended. Use it for schedules that are declared in code.
   *
   * @throws StepfoldError `SCHEDULE_INVALID`, `STORE_UNAVAILABLE`
   */
  put(name: string, spec: ScheduleSpec, options?: CreateScheduleOptions): Promise<ScheduleDescription>;
  /**
   * Changes members of the specification; `undefined` removes a member. Ticks before the edit still start under the old specification.
   *
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED`, `SCHEDULE_INVALID`
   */
  edit(name: string, changes: Partial<ScheduleSpec>): Promise<ScheduleDescription>;
  /** Pauses a schedule: from now on no tick starts. @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED` */
  pause(name: string, note?: string): Promise<void>;
  /** Ends a pause: ticks start again, but not those of the pause. @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED` */
  resume(name: string): Promise<void>;
  /**
   * Starts an execution at once, even while the schedule is paused or another execution runs. Each call starts an execution of its own,
   * unless it repeats an `idempotencyKey`.
   *
   * ```ts
   * const { workflowId } = await runtime.schedules.trigger("nightly", { idempotencyKey: "click-17" });
   * ```
   *
   * @returns the id that the execution will have
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED`, `OPTION_INVALID`, `OPTION_UNKNOWN`, `OUTCOME_UNKNOWN`
   */
  trigger(name: string, options?: TriggerOptions): Promise<{ readonly workflowId: string }>;
  /**
   * Starts the past ticks of the current specification. A tick that was started before is not started again.
   *
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED`, `OPTION_INVALID`
   */
  backfill(name: string, options: BackfillOptions): Promise<void>;
  /** Ends the schedule. Executions that it has started go on. @throws StepfoldError `SCHEDULE_NOT_FOUND`, `EXECUTION_ENDED` */
  delete(name: string): Promise<void>;
  /**
   * Returns a schedule and its current state.
   *
   * @throws StepfoldError `SCHEDULE_NOT_FOUND`; `SNAPSHOT_INVALID`, as every call except `delete`, if its state was damaged in the store
   */
  describe(name: string): Promise<ScheduleDescription>;
  /** Lists schedules, the newest first, one page at a time. @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE` */
  list(query?: ScheduleListQuery): Promise<Page<ScheduleDescription>>;
}
