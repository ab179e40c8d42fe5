// Computes the ticks of schedules without the library: it reads the offsets of zones from Intl and checks every minute.

const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
const dayMs = 24 * 60 * minuteMs;

/** The rule of a schedule. */
export type ModelRule =
  | { readonly kind: "every"; readonly minutes: number; readonly offsetMinutes: number }
  /** A tick at these minutes of every hour. */
  | { readonly kind: "hourly"; readonly minutes: readonly number[]; readonly zone: string }
  /** A tick at these times of every day. */
  | { readonly kind: "daily"; readonly times: readonly TimeOfDay[]; readonly zone: string };

/** A local time of day. */
export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** Returns the rule in the form of the library. */
export function specOf(rule: ModelRule): Readonly<Record<string, unknown>> {
  if (rule.kind === "every") return { every: rule.minutes * minuteMs, offset: rule.offsetMinutes * minuteMs };
  const { zone } = rule;
  if (rule.kind === "hourly") return { cron: `${rule.minutes.join(",")} * * * *`, zone };
  return { cron: rule.times.map(({ hour, minute }) => `${minute} ${hour} * * *`), zone };
}

/** Returns the ticks after `after`, up to and including `until`. */
export function ticksBetween(rule: ModelRule, after: number, until: number): number[] {
  const ticks: number[] = [];
  if (rule.kind === "daily") {
    for (let day = localOf(after, rule.zone) - dayMs; day <= until + 2 * dayMs; day += dayMs) {
      for (const one of rule.times) {
        const tick = dailyTick(Math.floor(day / dayMs) * dayMs, one, rule.zone);
        if (tick > after && tick <= until) ticks.push(tick);
      }
    }
    return [...new Set(ticks)].sort((a, b) => a - b);
  }
  for (let at = (Math.floor(after / minuteMs) + 1) * minuteMs; at <= until; at += minuteMs) {
    const minutes = rule.kind === "every" ? at / minuteMs - rule.offsetMinutes : localOf(at, rule.zone) / minuteMs;
    if (rule.kind === "every" ? minutes % rule.minutes === 0 : rule.minutes.includes(minutes % 60)) ticks.push(at);
  }
  return ticks;
}

/** Returns the first moment of a local day at which the local time is the given one, or, if the clock skips that time, is later. */
function dailyTick(localDay: number, { hour, minute }: TimeOfDay, zone: string): number {
  const wanted = localDay + (hour * 60 + minute) * minuteMs;
  for (let at = wanted - dayMs; ; at += minuteMs) if (localOf(at, zone) >= wanted) return at;
}

const offsets = new Map<string, number>();
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the local time of day of a zone. */
export function timeOfDay(at: number, zone: string): TimeOfDay {
  const minutes = Math.floor((localOf(at, zone) % dayMs) / minuteMs);
  return { hour: Math.floor(minutes / 60), minute: minutes % 60 };
}

/** Returns the local time as if it were UTC, in epoch milliseconds. Offsets change only at quarters of an hour. */
function localOf(at: number, zone: string): number {
  const quarter = Math.floor(at / quarterMs) * quarterMs;
  const key = `${zone} ${quarter}`;
  let offset = offsets.get(key);
  if (offset === undefined) {
    offset = readOffset(quarter, zone);
    offsets.set(key, offset);
  }
  return at + offset;
}

function readOffset(at: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    const numbers = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
    format = new Intl.DateTimeFormat("en", { ...numbers, timeZone: zone, hourCycle: "h23" });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute) - at;
}
