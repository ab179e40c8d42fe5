import { seededShare } from "../core/values/hash/seeded.ts";
import type { EpochMs } from "../core/values/json.ts";
import { lastMs } from "../core/values/timestamp.ts";
import { nextCronTick } from "./cron-rule.ts";

/** The members of a specification that decide when the schedule ticks. */
export interface TickRule {
  /** Cron expressions: the schedule ticks whenever one of them says so. */
  readonly cron?: readonly string[];
  /** With `cron`: the time zone, such as `Europe/Vienna`. Absent: UTC. */
  readonly zone?: string;
  /** Ticks are at whole multiples of this number of milliseconds since 1970. */
  readonly every?: number;
  /** With `every`: how many milliseconds later the ticks are. */
  readonly offset?: number;
  /** Time of the only tick. */
  readonly at?: EpochMs;
  /** No tick is before this time; one may be at it. */
  readonly startAt?: EpochMs;
  /** No tick is after this time; one may be at it. */
  readonly endAt?: EpochMs;
}

/** Returns the next tick after a time; null if there is none. The result depends only on the arguments. */
export function nextTick(rule: TickRule, after: EpochMs): EpochMs | null {
  const { startAt = 0, endAt = lastMs } = rule;
  const next = nextOf(rule, Math.max(after, startAt - 1));
  return next !== null && next <= endAt ? next : null;
}

function nextOf({ cron, zone = "UTC", every, offset = 0, at }: TickRule, after: EpochMs): EpochMs | null {
  if (at !== undefined) return at > after ? at : null;
  if (every !== undefined) {
    const next = (Math.floor((after - offset) / every) + 1) * every + offset;
    return next <= lastMs ? next : null;
  }
  let first: EpochMs | null = null;
  for (const one of cron ?? []) {
    const next = nextCronTick(one, zone, after);
    if (next !== null && (first === null || next < first)) first = next;
  }
  return first;
}

/**
 * Returns when a tick starts: at its time plus a part of `jitterMs`, and before the next tick. The part depends only on the schedule and
 * the tick.
 */
export function withJitter(rule: TickRule, at: EpochMs, jitterMs: number, schedule: string): EpochMs {
  if (jitterMs === 0) return at;
  const gapMs = (nextTick(rule, at) ?? lastMs) - at;
  return at + Math.floor(seededShare(`${schedule}@${at}`) * Math.min(jitterMs, gapMs));
}

/** True for a time of a tick or a command: milliseconds since 1970 that a `Date` can hold. */
export function isTime(value: unknown): value is EpochMs {
  return typeof value === "number" && value >= 0 && value <= lastMs;
}

/** Returns the id of the execution that a tick starts: `nightly@2026-11-22T02:00:00Z`. */
export function tickId(name: string, at: EpochMs): string {
  return `${name}@${isoOf(at)}`;
}

/** Returns a time as `2026-11-22T02:00:00Z`, with milliseconds only if they are not 0. */
export function isoOf(at: EpochMs): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}
