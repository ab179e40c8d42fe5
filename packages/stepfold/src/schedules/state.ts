import type { EpochMs, Json } from "../core/values/json.ts";
import { isJsonObject } from "../core/values/json.ts";
import type { ScheduleProblem } from "../runtime/context/schedules.ts";
import type { CheckedSpec } from "./spec.ts";
import { nextTick, withJitter } from "./ticks.ts";

/** Everything that a schedule knows, as JSON: the payload of its wait, and the input of the execution that it goes on as. */
export interface ScheduleState {
  readonly name: string;
  readonly spec: CheckedSpec;
  readonly generation: number;
  /** Ticks up to this time are decided. */
  readonly decidedUntil: EpochMs;
  readonly paused?: { readonly note?: string };
  readonly lastTick: EpochMs | null;
  /** Ticks that count for `count`. */
  readonly taken: number;
  readonly counts: { readonly started: number; readonly skipped: number; readonly missed: number };
  /** Executions that have not ended, as far as the schedule asked to be told. */
  readonly running: readonly string[];
  /** Ticks that are started once these have ended. */
  readonly queued: readonly EpochMs[];
  /** `running` were cancelled for what is queued. */
  readonly cancelling?: true;
  readonly triggers: readonly EpochMs[];
  readonly backfills: readonly Backfill[];
  /** Commands that are not applied yet: the ticks before them are started first. */
  readonly commands: readonly ScheduleCommand[];
  readonly problems: readonly ScheduleProblem[];
  /** The time that it waits for: everything that it was told before is in this state when it comes. */
  readonly horizon: EpochMs;
  /** Steps since the schedule went on as a new execution. */
  readonly steps: number;
}

/** Past ticks that are to be started. */
interface Backfill {
  /** Those up to here are started. */
  readonly after: EpochMs;
  readonly to: EpochMs;
  readonly overlap: "queue" | "allow";
}

/** What a schedule is told to do, and when that was said. */
export type ScheduleCommand = { readonly at: EpochMs } & (
  | {
      readonly type: "edit";
      readonly changes: Readonly<Record<string, Json>>;
      /** Members that are taken away. */
      readonly removes?: readonly string[];
      /** The changes are the whole specification. */
      readonly replaces?: true;
    }
  | { readonly type: "pause"; readonly note?: string }
  | { readonly type: "resume" }
  | { readonly type: "trigger" }
  | { readonly type: "backfill"; readonly from: EpochMs; readonly to: EpochMs; readonly overlap: "queue" | "allow" }
);

/** A schedule that begins. */
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

/** A state that was read from an execution; null if it is none. */
export function readState(value: unknown): ScheduleState | null {
  if (!isJsonObject(value) || typeof value.name !== "string" || !isJsonObject(value.spec)) return null;
  const lists = [value.running, value.queued, value.triggers, value.backfills, value.commands, value.problems];
  return lists.every(Array.isArray) && isJsonObject(value.counts) ? (value as unknown as ScheduleState) : null;
}

/** The tick that is next, and when it begins; null if there is none, or the schedule is paused. */
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

/** Whether a schedule will never start anything again. */
export function isOver(state: ScheduleState): boolean {
  const { paused, queued, triggers, backfills, commands } = state;
  return !paused && [queued, triggers, backfills, commands].every(({ length }) => length === 0) && tickAhead(state) === null;
}

/** When a schedule has something to do: 0 for now, null for not before it is told something. */
export function wakeOf(state: ScheduleState): EpochMs | null {
  const { paused, running, queued, triggers, backfills, commands } = state;
  const isIdle = running.length === 0;
  if (commands.length > 0 || triggers.length > 0 || (isIdle && !paused && queued.length > 0)) return 0;
  if (backfills.some(({ overlap }) => overlap === "allow" || isIdle)) return 0;
  return isOver(state) ? 0 : (tickAhead(state)?.beginsAt ?? null);
}

/** Id of the execution that a tick starts: `nightly@2026-11-22T02:00:00Z`. */
export function tickId(name: string, at: EpochMs): string {
  return `${name}@${isoOf(at)}`;
}

/** `2026-11-22T02:00:00Z`, with milliseconds only where there are some. */
export function isoOf(at: EpochMs): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}
