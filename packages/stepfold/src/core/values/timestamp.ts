import type { EpochMs } from "./json.ts";

/** The last moment that a Date can hold. */
export const lastMs = 8.64e15;
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

/**
 * A date, or a date and a time. A time has an offset or is local time. Beside what RFC 3339 allows, the seconds may be left out, the offset
 * may be `+0100` or `+01`, the fraction may follow a comma, and a year may have a sign and six digits, as `Date` writes it.
 */
const form = /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Returns the moment of a local time. The argument is the moment at which UTC shows that time. NaN: there is none. */
export type LocalTime = (shown: EpochMs) => EpochMs;

/** Takes local time for UTC. */
export const asUtc: LocalTime = (shown) => shown;

/**
 * Reads a moment and returns it in whole milliseconds since 1970. The value is a number of milliseconds, or text: a date (midnight UTC), or
 * a date and a time with an offset, such as `2026-11-20T09:30:00.250+01:00` or `2026-11-20 09:30Z`. The leap second `:60` is the second
 * after it. Undefined for any other value, and for a date or time that does not exist.
 *
 * @param local reads a date, and a time without an offset, which is refused otherwise, because its author may mean any time zone
 */
export function readTimestamp(value: unknown, local?: LocalTime): EpochMs | undefined {
  if (typeof value === "number") return existing(Math.trunc(value));
  const match = typeof value === "string" ? form.exec(value) : null;
  if (match === null) return undefined;
  const [, years, months, days, hours, minutes = "0", seconds = "0", fraction = "", zone] = match;
  const midnight = midnightOf(Number(years), Number(months), Number(days));
  const [hour, minute, second] = [Number(hours ?? 0), Number(minutes), Number(seconds)];
  if (midnight === undefined || hour > 23 || minute > 59 || second > 60) return undefined;
  const shown = midnight + (hour * 60 + minute) * minuteMs + second * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
  const at = zone === undefined ? (local ?? (hours === undefined ? asUtc : nowhere))(shown) : shown - offsetOf(zone);
  // a leap second is the last one of a day in UTC
  const isMisplaced = second === 60 && ((at % dayMs) + dayMs) % dayMs >= 1000;
  return isMisplaced ? undefined : existing(at);
}

/** Returns the beginning of a day in UTC; undefined if there is no such day. */
function midnightOf(year: number, month: number, day: number): EpochMs | undefined {
  const date = new Date(0);
  // a Date takes February 30 for March 2; such a text is a mistake
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

const nowhere: LocalTime = () => Number.NaN;

/** Returns an offset in milliseconds; NaN if there is no such offset. */
function offsetOf(zone: string): number {
  if (zone.length === 1) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).slice(-2))];
  if (hours > 23 || minutes > 59) return Number.NaN;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * minuteMs;
}

function existing(at: number): EpochMs | undefined {
  return Math.abs(at) <= lastMs ? at : undefined;
}

/** True for a text that `readTimestamp` reads only with `local`: the time has no offset. */
export function lacksOffset(value: unknown): boolean {
  return readTimestamp(value) === undefined && readTimestamp(value, asUtc) !== undefined;
}

/**
 * Reads a moment for which something can wait. The end of 1969 and all before it count as the beginning of 1970: they are past alike.
 *
 * @returns the moment, or what is wrong with the value, as the end of a sentence
 */
export function judgeTimestamp(value: unknown, local?: LocalTime): EpochMs | string {
  const at = readTimestamp(value, local);
  if (at !== undefined && (at >= 0 || typeof value === "string")) return Math.max(0, at);
  return lacksOffset(value)
    ? "has no offset, and may mean local time: write 2026-11-22T02:00:00Z for UTC, or an offset such as +01:00 in place of the Z"
    : "must be a time that exists: 2026-11-22T02:00:00Z, 2026-11-22, or milliseconds since 1970";
}
