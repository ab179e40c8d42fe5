import { readTimestamp } from "../../core/values/timestamp.ts";
import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { isPlain, kindOf } from "../evaluation/read-member.ts";
import { type CallSite, type ListedFunction, textAt } from "../functions/argument.ts";
import { addSpan } from "../functions/date-functions.ts";
import { fixedUnits, readSpan, type Span } from "../functions/date-units.ts";
import { formatTime } from "./format-time.ts";

/** Reads a time, which is ISO 8601 text or milliseconds, and returns its milliseconds. All functions calculate in UTC. */
function timestampFrom(frame: Frame, { name, position }: CallSite, value: unknown): number {
  charge(frame, 1);
  const at = readTimestamp(value);
  if (at !== undefined) return at;
  const shown = typeof value === "string" ? "another text" : kindOf(value);
  return failEvaluation(frame, position, `${name} needs a time, as ISO text such as "2026-11-20T09:30:00Z" or milliseconds, not ${shown}`);
}

function nowOf(frame: Frame, site: CallSite): number {
  return timestampFrom(frame, site, frame.scope.$now);
}

function isoOf(frame: Frame, site: CallSite, at: number): string {
  charge(frame, 1);
  if (readTimestamp(at) === undefined) failEvaluation(frame, site.position, `${site.name} leads to a date that does not exist`);
  return new Date(at).toISOString();
}

/** Reads a duration, which is given as `{ days: 1, hours: -2 }`, `1, "day"`, `"1 day"` or a number of milliseconds. */
function spanOf(frame: Frame, site: CallSite, [amount, unit]: readonly unknown[]): Span {
  const spanIn = (value: unknown): Span =>
    readSpan(value) ?? failEvaluation(frame, site.position, `${site.name} needs a time such as "2 days", "1h30m" or "3 months"`);
  if (!isPlain(amount))
    return spanIn(typeof amount === "number" && unit !== undefined ? `${amount} ${textAt(frame, site, [unit], 0)}` : amount);
  const parts = Object.entries(amount);
  charge(frame, parts.length);
  const spans = parts.map(([name, count]) => spanIn(`${textAt(frame, site, [count], 0)} ${name}`));
  return { months: spans.reduce((sum, { months }) => sum + months, 0), ms: spans.reduce((sum, { ms }) => sum + ms, 0) };
}

/** Makes `plus` (1) or `minus` (-1). */
const shift =
  (sign: 1 | -1): ListedFunction =>
  (frame, site, self, args) =>
    isoOf(frame, site, addSpan(timestampFrom(frame, site, self), spanOf(frame, site, args), sign));

/** Reads the name of a unit; capital letters and a plural are allowed. */
function unitOf(frame: Frame, site: CallSite, args: readonly unknown[], index: number, fallback?: string): string {
  const unit = textAt(frame, site, args, index, fallback).toLowerCase();
  return unit.endsWith("s") && unit.length > 2 ? unit.slice(0, -1) : unit;
}

/** Returns the milliseconds at which the unit around `at` begins. Weeks begin on Monday. */
function startOf(frame: Frame, site: CallSite, at: number, unit: string): number {
  const date = new Date(isoOf(frame, site, at));
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (unit === "year") return date.setUTCFullYear(year, 0, 1) && date.setUTCHours(0, 0, 0, 0);
  if (unit === "quarter") return date.setUTCFullYear(year, month - (month % 3), 1) && date.setUTCHours(0, 0, 0, 0);
  if (unit === "month") return date.setUTCFullYear(year, month, 1) && date.setUTCHours(0, 0, 0, 0);
  if (unit === "week") return date.setUTCHours(0, 0, 0, 0) - ((date.getUTCDay() + 6) % 7) * 86_400_000;
  const size = fixedUnits.get(unit);
  if (size === undefined)
    failEvaluation(frame, site.position, `${site.name} needs second, minute, hour, day, week, month, quarter or year`);
  return Math.floor(at / size) * size;
}

const endOf: ListedFunction = (frame, site, self, args) => {
  const unit = unitOf(frame, site, args, 0);
  const start = startOf(frame, site, timestampFrom(frame, site, self), unit);
  const months = { quarter: 3, month: 1, year: 12 }[unit];
  const next = months === undefined ? start + fixedUnits.get(unit)! : new Date(start).setUTCMonth(new Date(start).getUTCMonth() + months);
  return isoOf(frame, site, next - 1);
};

const parts: Readonly<Record<string, (date: Date) => number>> = {
  year: (date) => date.getUTCFullYear(),
  month: (date) => date.getUTCMonth() + 1,
  day: (date) => date.getUTCDate(),
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  second: (date) => date.getUTCSeconds(),
  millisecond: (date) => date.getUTCMilliseconds(),
  weekday: (date) => date.getUTCDay() || 7,
  quarter: (date) => Math.floor(date.getUTCMonth() / 3) + 1,
};

const extract: ListedFunction = (frame, site, self, args) => {
  const read = parts[unitOf(frame, site, args, 0)];
  if (read === undefined) failEvaluation(frame, site.position, `extract needs one of ${Object.keys(parts).join(", ")}`);
  return read(new Date(isoOf(frame, site, timestampFrom(frame, site, self))));
};

const diffTo: ListedFunction = (frame, site, self, args) => {
  const size = fixedUnits.get(textAt(frame, site, args, 1, "days"));
  if (size === undefined) failEvaluation(frame, site.position, "diffTo counts in ms, seconds, minutes, hours, days or weeks");
  return (timestampFrom(frame, site, args[0]) - timestampFrom(frame, site, self)) / size;
};

const format: ListedFunction = (frame, site, self, args) => {
  const date = new Date(isoOf(frame, site, timestampFrom(frame, site, self)));
  const pattern = textAt(frame, site, args, 0, "yyyy-MM-dd");
  charge(frame, pattern.length / 16);
  grow(frame, pattern.length * 10);
  return formatTime(date, pattern);
};

const iso: ListedFunction = (frame, site, self) => isoOf(frame, site, timestampFrom(frame, site, self));
const ms: ListedFunction = (frame, site, self) => timestampFrom(frame, site, self);
const getter =
  (read: (date: Date) => number): ListedFunction =>
  (frame, site, self) =>
    read(new Date(isoOf(frame, site, timestampFrom(frame, site, self))));
/** Reads a time from the first argument; a number counts in units of `size` milliseconds. */
const ofArgument =
  (size: number): ListedFunction =>
  (frame, site, _, args) =>
    isoOf(frame, site, typeof args[0] === "number" ? args[0] * size : timestampFrom(frame, site, args[0]));
const now: ListedFunction = (frame, site) => isoOf(frame, site, nowOf(frame, site));

/**
 * The functions and methods of time that people know from Luxon and
 * JavaScript. A time is ISO 8601 text in UTC here; the clock is `$now`.
 */
export const timeFunctions: readonly (readonly [string, ListedFunction])[] = [
  ["Date.now", (frame, site) => nowOf(frame, site)],
  ["Date.parse", (frame, site, _, args) => timestampFrom(frame, site, args[0])],
  ["DateTime.now", now],
  ["DateTime.utc", now],
  ["DateTime.local", now],
  ["DateTime.fromISO", ofArgument(1)],
  ["DateTime.fromJSDate", ofArgument(1)],
  ["DateTime.fromMillis", ofArgument(1)],
  ["DateTime.fromSeconds", ofArgument(1000)],
  ["toISO", iso],
  ["toISOString", iso],
  ["toDateTime", iso],
  ["toISODate", (frame, site, self) => isoOf(frame, site, timestampFrom(frame, site, self)).replace(/T.*/, "")],
  ["toMillis", ms],
  ["getTime", ms],
  ["toSeconds", (frame, site, self) => timestampFrom(frame, site, self) / 1000],
  ["toFormat", format],
  ["format", format],
  ["plus", shift(1)],
  ["minus", shift(-1)],
  [
    "startOf",
    (frame, site, self, args) => isoOf(frame, site, startOf(frame, site, timestampFrom(frame, site, self), unitOf(frame, site, args, 0))),
  ],
  ["endOf", endOf],
  ["diffTo", diffTo],
  ["extract", extract],
  ["getFullYear", getter((date) => date.getUTCFullYear())],
  ["getMonth", getter((date) => date.getUTCMonth())],
  ["getDate", getter((date) => date.getUTCDate())],
  ["getDay", getter((date) => date.getUTCDay())],
  ["getHours", getter((date) => date.getUTCHours())],
  ["getMinutes", getter((date) => date.getUTCMinutes())],
  ["getSeconds", getter((date) => date.getUTCSeconds())],
  ["getMilliseconds", getter((date) => date.getUTCMilliseconds())],
];
