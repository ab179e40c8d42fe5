import { Cron } from "croner";
import { errorInfo } from "../core/errors/error-info.ts";
import { seededShare } from "../core/values/hash/seeded.ts";
import type { EpochMs } from "../core/values/json.ts";
import { lastMs } from "../core/values/timestamp.ts";

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

/**
 * The form of a cron expression: fields, or a name such as `@daily`. croner also takes a date; that is refused, because `at` is for that.
 */
const cronForm = /^(?:@[a-z]{1,12}|[A-Za-z0-9*,/\-#?+]{1,60}(?: [A-Za-z0-9*,/\-#?+]{1,60}){4,6})$/;
const zoneForm = /^[A-Za-z0-9_+\-/]{1,60}$/;
const maxCronLength = 200;
/** The time with which expressions and zones are tried out. */
const trial = new Date(Date.UTC(2026, 0, 1));

/** Returns what is wrong with a cron expression or its zone; null if nothing is. */
export function cronMistake(cron: string, zone: string): { readonly member: "cron" | "zone"; readonly message: string } | null {
  if (cron.length > maxCronLength || !cronForm.test(cron))
    return {
      member: "cron",
      message: "must have 5 to 7 fields: minute hour day month weekday, seconds before them and the year after them",
    };
  if (!isZone(zone)) return { member: "zone", message: 'must be a time zone such as "Europe/Vienna"' };
  try {
    new Cron(cron, { timezone: zone, paused: true }).nextRun(trial);
    return null;
  } catch (error) {
    return { member: "cron", message: errorInfo(error).message.replace(/^CronPattern: /, "") };
  }
}

function isZone(zone: string): boolean {
  if (!zoneForm.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).format(trial) !== "";
  } catch {
    return false;
  }
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
    const next = cronOf(one, zone).nextRun(new Date(after))?.getTime();
    if (next !== undefined && (first === null || next < first)) first = next;
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

/** The most parsed expressions that are kept. */
const maxCrons = 200;
/** Parsed expressions, the least recently used first. They are kept because parsing one takes as long as computing many ticks. */
const parsed = new Map<string, Cron>();

function cronOf(cron: string, zone: string): Cron {
  const key = `${zone} ${cron}`;
  const one = parsed.get(key) ?? new Cron(cron, { timezone: zone, paused: true });
  parsed.delete(key);
  parsed.set(key, one);
  if (parsed.size > maxCrons) parsed.delete(parsed.keys().next().value!);
  return one;
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
