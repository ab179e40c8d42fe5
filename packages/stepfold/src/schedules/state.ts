import type { EpochMs, Json } from "../core/values/json.ts";
import { isJsonObject } from "../core/values/json.ts";
import type { ScheduleProblem } from "../runtime/context/schedules.ts";
import type { CheckedSpec } from "./spec.ts";
import { nextTick, withJitter } from "./ticks.ts";

/**
 * The whole state of a schedule, as JSON. It is the payload of the schedule's wait, the output of a step that starts executions, and the
 * input of the next run.
 */
export interface ScheduleState {
  readonly name: string;
  readonly spec: CheckedSpec;
  /** 1 for the first specification; each edit adds 1. */
  readonly generation: number;
  /** Ticks up to this time are decided. */
  readonly decidedUntil: EpochMs;
  /** Present while the schedule is paused. `note` says why. */
  readonly paused?: { readonly note?: string };
  /** Time of the last tick that was decided, even if it was skipped or missed; null if there was none. */
  readonly lastTick: EpochMs | null;
  /** Number of ticks that count for `count` of the specification: started or queued, except queued ticks that a later one has replaced. */
  readonly taken: number;
  /**
   * Numbers of executions that were started, ticks that were skipped because of `overlap`, and ticks that were missed (`catchUpWindow`).
   */
  readonly counts: { readonly started: number; readonly skipped: number; readonly missed: number };
  /** Ids of started executions that have not ended. Only those that report their end to the schedule are in it. */
  readonly running: readonly string[];
  /** Times of the ticks that start once the executions in `running` have ended. */
  readonly queued: readonly EpochMs[];
  /** The executions in `running` that were cancelled, so that the queued tick can start. */
  readonly cancelled?: readonly string[];
  /** Times of triggers that are not started yet, and of ticks that are started again because a worker did not know their workflow. */
  readonly triggers: readonly EpochMs[];
  /** Backfills that are not done yet. */
  readonly backfills: readonly Backfill[];
  /** Commands that are not applied yet: the ticks before them are started first. */
  readonly commands: readonly ScheduleCommand[];
  /** The latest problems, oldest first. */
  readonly problems: readonly ScheduleProblem[];
  /**
   * The time for which the schedule waits, and up to which it then decides. All signals that came before the decision are in the state by
   * then.
   */
  readonly horizon: EpochMs;
  /** Steps of the execution that the schedule is at present (see `maxSteps`). */
  readonly steps: number;
}

/** Past ticks that are to be started. */
interface Backfill {
  /** Ticks up to this time are started already; at first, the millisecond before `from` of the command. */
  readonly after: EpochMs;
  /** The last tick is not after this time. */
  readonly to: EpochMs;
  readonly overlap: "queue" | "allow";
}

/** A command to a schedule. `at` is the time of the command. */
export type ScheduleCommand = { readonly at: EpochMs } & (
  | {
      readonly type: "edit";
      readonly changes: Readonly<Record<string, Json>>;
      /** Members of the specification that are removed. */
      readonly removes?: readonly string[];
      /** `changes` is the whole new specification. */
      readonly replaces?: true;
    }
  | { readonly type: "pause"; readonly note?: string }
  | { readonly type: "resume" }
  | { readonly type: "trigger" }
  | { readonly type: "backfill"; readonly from: EpochMs; readonly to: EpochMs; readonly overlap: "queue" | "allow" }
);

/** Returns the state of a new schedule. */
export function initialState(name: string, spec: CheckedSpec, at: EpochMs, paused: boolean | string): ScheduleState {
  return {
    name,
    spec,
    generation: 1,
    decidedUntil: at,
    ...(paused !== false && { paused: typeof paused === "string" ? { note: paused } : {} }),
    lastTick: null,
    taken: 0,
    counts: { started: 0, skipped: 0, missed: 0 },
    running: [],
    queued: [],
    triggers: [],
    backfills: [],
    commands: [],
    problems: [],
    horizon: at,
    steps: 0,
  };
}

/** Returns a value that was read from an execution as a state; null if it is not a state. */
export function readState(value: unknown): ScheduleState | null {
  if (!isJsonObject(value) || typeof value.name !== "string" || !isJsonObject(value.spec)) return null;
  const lists = [value.running, value.queued, value.triggers, value.backfills, value.commands, value.problems];
  return lists.every(Array.isArray) && isJsonObject(value.counts) ? (value as unknown as ScheduleState) : null;
}

/** Returns the time of the next tick, and the time with jitter at which it starts. Null if there is none, or if the schedule is paused. */
export function tickAhead({
  name,
  spec,
  paused,
  taken,
  decidedUntil,
}: ScheduleState): { readonly at: EpochMs; readonly beginsAt: EpochMs } | null {
  if (paused || (spec.count !== undefined && taken >= spec.count)) return null;
  const at = nextTick(spec, decidedUntil);
  return at === null ? null : { at, beginsAt: withJitter(spec, at, spec.jitter, name) };
}

/** True if a schedule will never start anything again. */
export function isOver(state: ScheduleState): boolean {
  const { paused, queued, triggers, backfills, commands } = state;
  return !paused && [queued, triggers, backfills, commands].every(({ length }) => length === 0) && tickAhead(state) === null;
}

/** Returns when a schedule has something to do. 0: at once. Null: not before it gets a signal. */
export function wakeOf(state: ScheduleState): EpochMs | null {
  const { paused, running, queued, triggers, backfills, commands } = state;
  const isIdle = running.length === 0;
  if (commands.length > 0 || triggers.length > 0 || (isIdle && !paused && queued.length > 0)) return 0;
  if (backfills.some(({ overlap }) => overlap === "allow" || isIdle)) return 0;
  // a schedule that is over wakes at once, to end its execution
  return isOver(state) ? 0 : (tickAhead(state)?.beginsAt ?? null);
}

/** Returns the id of the execution that a tick starts: `nightly@2026-11-22T02:00:00Z`. */
export function tickId(name: string, at: EpochMs): string {
  return `${name}@${isoOf(at)}`;
}

/** Returns a time as `2026-11-22T02:00:00Z`, with milliseconds only if they are not 0. */
export function isoOf(at: EpochMs): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}
