import type { OverlapPolicy, ScheduleSpec } from "../../../packages/stepfold/src/runtime/context/schedules.ts";
import type { Random } from "../../../packages/stepfold/src/testing/simulation/random.ts";
import { type ModelRule, specOf, ticksBetween, timeOfDay } from "./tick-model.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
/** The time in which ticks come. The executions that they start may take longer. */
export const dayLengthMs = 26 * hourMs;

/** Times at which a day begins in whose course the clock of a zone changes. The day begins about an hour before midnight in that zone. */
const changes = [
  { zone: "Europe/Vienna", at: "2026-03-28T22:10:00Z" },
  { zone: "Europe/Vienna", at: "2026-10-24T21:10:00Z" },
  { zone: "America/New_York", at: "2026-03-08T04:10:00Z" },
  { zone: "America/New_York", at: "2026-11-01T03:10:00Z" },
  { zone: "Australia/Lord_Howe", at: "2026-04-04T12:10:00Z" },
  { zone: "Australia/Lord_Howe", at: "2026-10-03T12:10:00Z" },
] as const;

/** The specification of a schedule in the terms of the model. */
export interface ModelSpec {
  readonly rule: ModelRule;
  readonly overlap: OverlapPolicy;
  /** How late a tick may still be started, in milliseconds. */
  readonly catchUpMs: number;
  /** The largest random delay of a start, in milliseconds. */
  readonly jitterMs: number;
  /** The number of this version of the specification. It is part of the input of the executions that the schedule starts. */
  readonly nth: number;
}

/** An action of a user on a schedule. */
export type Act = { readonly atMs: number } & (
  | { readonly type: "edit"; readonly to: ModelSpec }
  | { readonly type: "pause" | "resume" | "trigger" | "delete" }
  | { readonly type: "backfill"; readonly fromMs: number; readonly toMs: number }
);

/** One schedule of a day. Times of acts count from the beginning of the day. */
export interface PlannedSchedule {
  readonly name: string;
  readonly spec: ModelSpec;
  /** How long the executions of the schedule rest, in milliseconds. */
  readonly restMs: number;
  /** The acts, in the order of time. */
  readonly acts: readonly Act[];
}

/** A day with a change of the clock. */
export interface Day {
  readonly beginsAt: number;
  readonly schedules: readonly PlannedSchedule[];
  /** The times between which no worker runs. Null: a worker always runs or is replaced soon. */
  readonly outage: { readonly fromMs: number; readonly toMs: number } | null;
}

/** Returns a random day. */
export function randomDay(random: Random, schedules: number): Day {
  const { zone, at } = random.pick(changes);
  const beginsAt = Date.parse(at);
  const lastAt = beginsAt + dayLengthMs - hourMs / 2;
  const from = random.between(2, 20) * hourMs + random.between(0, hourMs);
  const outage = random.chance(0.6) ? { fromMs: from, toMs: from + random.between(40, 150) * minuteMs } : null;
  const planned = Array.from({ length: schedules }, (_, i) =>
    plannedSchedule(random.fork(`schedule ${i}`), `s${i}`, { beginsAt, zone, lastAt, outage }),
  );
  return { beginsAt, schedules: planned, outage };
}

/** Facts that all schedules of one day share. */
interface Around {
  readonly beginsAt: number;
  /** The zone of most schedules. */
  readonly zone: string;
  /** A time near the end of the day, in epoch milliseconds. */
  readonly lastAt: number;
  readonly outage: Day["outage"];
}

function plannedSchedule(random: Random, name: string, around: Around): PlannedSchedule {
  const overlap = random.pick(["skip", "skip", "queue", "cancel", "allow", "allow"] as const);
  const catchUpMs = random.pick([20 * minuteMs, 24 * hourMs]);
  const jitterMs = random.chance(0.4) ? random.between(1, 6) * minuteMs : 0;
  const spec: ModelSpec = { rule: randomRule(random, around), overlap, catchUpMs, jitterMs, nth: 1 };
  // some executions end long before the next tick and some after it; a queue can become shorter again
  const restMs = random.pick(overlap === "queue" ? [2, 4, 24] : [2, 4, 42, 75]) * minuteMs;
  return { name, spec, restMs, acts: randomActs(random, spec, around) };
}

function randomRule(random: Random, { zone: near, lastAt }: Around): ModelRule {
  const zone = random.chance(0.8) ? near : random.pick(["UTC", "Asia/Kathmandu", "America/Los_Angeles"]);
  const kind = random.pick(["every", "hourly", "hourly", "daily", "daily"] as const);
  if (kind === "every") return { kind, minutes: random.pick([30, 60, 240]), offsetMinutes: random.pick([0, 0, 7]) };
  if (kind === "hourly") return { kind, zone, minutes: random.pick([[0], [30], [15, 45], [5, 35]]) };
  // most times are near the change of the clock; a second time is near the end of the day, so that the schedule lasts until then
  const hour = random.chance(0.75) ? random.between(1, 3) : random.between(0, 23);
  return { kind, zone, times: [{ hour, minute: random.pick([0, 15, 30, 45]) }, timeOfDay(lastAt, zone)] };
}

/** Returns random acts of people in the course of the day. Two acts may come within one second. */
function randomActs(random: Random, first: ModelSpec, around: Around): Act[] {
  const acts: Act[] = [];
  let spec = first;
  const pauses = random.chance(0.3);
  const { outage } = around;
  // an act during an outage takes effect after the ticks before it
  const isToNobody = outage !== null && random.chance(0.3);
  const beginMs = isToNobody ? random.between(outage.fromMs, outage.toMs) : random.between(3, 10) * hourMs + random.between(1, hourMs);
  const later = (atMs: number): number => atMs + (random.chance(0.3) ? random.between(1, 900) : random.between(10 * minuteMs, 4 * hourMs));
  let atMs = beginMs;
  for (let i = random.between(0, 3); i > 0; i--) {
    if (random.chance(0.3)) acts.push({ atMs, type: "trigger" });
    else {
      const change = random.pick(["rule", "input", "jitter"] as const);
      spec = {
        ...spec,
        nth: spec.nth + 1,
        ...(change === "rule" && { rule: randomRule(random, around) }),
        ...(change === "jitter" && { jitterMs: random.between(0, 6) * minuteMs }),
      };
      acts.push({ atMs, type: "edit", to: spec });
    }
    atMs = later(atMs);
  }
  if (pauses) {
    const toMs = atMs + random.between(20 * minuteMs, 4 * hourMs);
    acts.push({ atMs, type: "pause" });
    if (random.chance(0.4)) {
      spec = { ...spec, nth: spec.nth + 1 };
      acts.push({ atMs: atMs + Math.floor((toMs - atMs) / 2), type: "edit", to: spec });
    }
    acts.push({ atMs: toMs, type: "resume" });
    if (spec.overlap === "allow" && random.chance(0.6)) acts.push({ atMs: later(toMs), type: "backfill", fromMs: atMs, toMs });
  } else if (random.chance(0.1) && (spec.overlap === "allow" || spec.overlap === "skip")) acts.push({ atMs, type: "delete" });
  // after the end of the last tick there is nothing to change
  return acts
    .filter((act) => act.atMs < dayLengthMs - hourMs)
    .filter((act) => act.type !== "edit" || hasTickAfter(act, around))
    .filter((act, _, all) => act.type !== "pause" || all.at(-1)?.type !== "pause");
}

/** True if the new rule has a tick before the end of the day. An edit without one would be refused. */
function hasTickAfter({ atMs, to }: Act & { readonly type: "edit" }, { beginsAt }: Around): boolean {
  return ticksBetween(to.rule, beginsAt + atMs, beginsAt + dayLengthMs).length > 0;
}

/**
 * Converts a specification to the form of the library.
 * @param endAt the time after which no tick comes
 */
export function scheduleSpec({ rule, overlap, catchUpMs, jitterMs, nth }: ModelSpec, restMs: number, endAt: number): ScheduleSpec {
  return { workflow: "work", input: { nth, for: restMs }, ...specOf(rule), overlap, catchUpWindow: catchUpMs, jitter: jitterMs, endAt };
}
