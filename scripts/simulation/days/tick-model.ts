// When schedules tick, counted without the library: the offsets of zones are read from Intl, and every minute is looked at.

const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
const dayMs = 24 * 60 * minuteMs;

/** When to tick. */
export type ModelRule =
  | { readonly kind: "every"; readonly minutes: number; readonly offsetMinutes: number }
  /** At these minutes of every hour. */
  | { readonly kind: "hourly"; readonly minutes: readonly number[]; readonly zone: string }
  /** At these times of every day. */
  | { readonly kind: "daily"; readonly times: readonly TimeOfDay[]; readonly zone: string };

/** What a clock on the wall shows. */
export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** The same rule as a schedule says it. */
export function specOf(rule: ModelRule): Readonly<Record<string, unknown>> {
  if (rule.kind === "every") return { every: rule.minutes * minuteMs, offset: rule.offsetMinutes * minuteMs };
  const { zone } = rule;
  if (rule.kind === "hourly") return { cron: `${rule.minutes.join(",")} * * * *`, zone };
  return { cron: rule.times.map(({ hour, minute }) => `${minute} ${hour} * * *`), zone };
}

/** The ticks after one time, and up to another one. */
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

/** The first moment of a local day at which a clock on the wall shows the time, or has passed it without having shown it. */
function dailyTick(localDay: number, { hour, minute }: TimeOfDay, zone: string): number {
  const wanted = localDay + (hour * 60 + minute) * minuteMs;
  for (let at = wanted - dayMs; ; at += minuteMs) if (localOf(at, zone) >= wanted) return at;
}

const offsets = new Map<string, number>();
const formats = new Map<string, Intl.DateTimeFormat>();

/** What a clock on the wall shows at a time. */
export function timeOfDay(at: number, zone: string): TimeOfDay {
  const minutes = Math.floor((localOf(at, zone) % dayMs) / minuteMs);
  return { hour: Math.floor(minutes / 60), minute: minutes % 60 };
}

/** What a clock on the wall shows, as if it were UTC. Offsets change at quarters of an hour only. */
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
