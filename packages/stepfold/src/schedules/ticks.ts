import { Cron } from "croner";
import { errorInfo } from "../core/errors/error-info.ts";
import type { EpochMs } from "../core/values/json.ts";
import { seededShare } from "../core/values/seeded.ts";
import { lastMs } from "../core/values/timestamp.ts";

/** The members of a specification that say when. */
export interface TickRule {
  readonly cron?: readonly string[];
  readonly zone?: string;
  readonly every?: number;
  readonly offset?: number;
  readonly at?: EpochMs;
  readonly startAt?: EpochMs;
  readonly endAt?: EpochMs;
}

/** Fields, or a name such as `@daily`. A date, which croner takes too, is what `at` is for. */
const cronForm = /^(?:@[a-z]{1,12}|[A-Za-z0-9*,/\-#?+]{1,60}(?: [A-Za-z0-9*,/\-#?+]{1,60}){4,6})$/;
const zoneForm = /^[A-Za-z0-9_+\-/]{1,60}$/;
const maxCronLength = 200;
/** A time to try expressions and zones at. */
const trial = new Date(Date.UTC(2026, 0, 1));

/** What is wrong with a cron expression or its zone; null if nothing is. */
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

/** The next tick after a time; null if there is none. It depends on nothing but its arguments. */
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

/** When a tick begins: later by a part of `jitterMs` that depends on the schedule and the tick alone, and before the next tick. */
export function withJitter(rule: TickRule, at: EpochMs, jitterMs: number, schedule: string): EpochMs {
  if (jitterMs === 0) return at;
  const gapMs = (nextTick(rule, at) ?? lastMs) - at;
  return at + Math.floor(seededShare(`${schedule}@${at}`) * Math.min(jitterMs, gapMs));
}

const maxCrons = 200;
/** Parsed expressions, the least recently used first: to parse one costs as much as many ticks. */
const parsed = new Map<string, Cron>();

function cronOf(cron: string, zone: string): Cron {
  const key = `${zone} ${cron}`;
  const one = parsed.get(key) ?? new Cron(cron, { timezone: zone, paused: true });
  parsed.delete(key);
  parsed.set(key, one);
  if (parsed.size > maxCrons) parsed.delete(parsed.keys().next().value!);
  return one;
}
