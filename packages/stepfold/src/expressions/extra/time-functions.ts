import { readSpan, type Span, timeUnit, unitSpan } from "../../core/values/duration.ts";
import { asUtc, type LocalTime, readTimestamp } from "../../core/values/timestamp.ts";
import { charge, type Frame, failEvaluation } from "../evaluation/frame.ts";
import { isPlain } from "../evaluation/read-member.ts";
import { type CallSite, type ListedFunction, textAt } from "../functions/argument.ts";
import { timeParts } from "../functions/time-parts.ts";
import { addSpan, between, dateAt, formatAt, startOf, type TimeCall, timeFrom } from "../functions/times.ts";
import { type TimePart, timePartNames } from "../syntax/parse-n8n-word.ts";

function callOf({ name, position }: CallSite): TimeCall {
  return { name, needs: `${name} needs a time, as ISO text`, position };
}

/** Reads a time, which is ISO 8601 text or milliseconds, and returns its milliseconds. All functions calculate in UTC. */
function timestampFrom(frame: Frame, site: CallSite, value: unknown, local?: LocalTime): number {
  return timeFrom(frame, callOf(site), value, local);
}

function nowOf(frame: Frame, site: CallSite): number {
  return timestampFrom(frame, site, frame.scope.$now);
}

function isoOf(frame: Frame, site: CallSite, at: number): string {
  return dateAt(frame, callOf(site), at).toISOString();
}

/** Reads the time that a method is called on. */
function dateOf(frame: Frame, site: CallSite, self: unknown): Date {
  return dateAt(frame, callOf(site), timestampFrom(frame, site, self));
}

/** Reads a duration, which is given as `{ days: 1, hours: -2 }`, `1, "day"`, `"1 day"` or a number of milliseconds. */
function spanOf(frame: Frame, site: CallSite, [amount, unit]: readonly unknown[]): Span {
  const spanIn = (value: unknown): Span =>
    readSpan(value) ?? failEvaluation(frame, site.position, `${site.name} needs a time such as "2 days", "1h30m", "3 months" or "P7D"`);
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

/** Makes `startOf`, and `endOf`, which is the last millisecond before the next unit. */
const edge =
  (isEnd: boolean): ListedFunction =>
  (frame, site, self, args) => {
    const date = dateOf(frame, site, self);
    const unit = timeUnit(textAt(frame, site, args, 0));
    if (unit === undefined)
      failEvaluation(frame, site.position, `${site.name} needs second, minute, hour, day, week, month, quarter or year`);
    const start = startOf(date, unit);
    return isoOf(frame, site, isEnd ? addSpan(start, unitSpan(unit), 1) - 1 : start);
  };

/** The length of the longest name of a part of a time. */
const maxNameLength = Math.max(...timePartNames.map(({ length }) => length));

const extract: ListedFunction = (frame, site, self, args) => {
  const word = textAt(frame, site, args, 0);
  const unit = timeUnit(word) ?? (word.length > maxNameLength ? undefined : word.toLowerCase());
  const part = timePartNames.find((name: TimePart) => name.toLowerCase() === unit);
  if (part === undefined) failEvaluation(frame, site.position, `extract needs one of ${timePartNames.join(", ")}`);
  return timeParts[part](dateOf(frame, site, self));
};

const diffTo: ListedFunction = (frame, site, self, args) => {
  const unit = textAt(frame, site, args, 1, "days");
  const units = between(timestampFrom(frame, site, self), timestampFrom(frame, site, args[0]), unit);
  return units ?? failEvaluation(frame, site.position, "diffTo counts in ms, seconds, minutes, hours, days or weeks");
};

const format: ListedFunction = (frame, site, self, args) =>
  formatAt(frame, callOf(site), timestampFrom(frame, site, self), textAt(frame, site, args, 0, "yyyy-MM-dd"));

const iso: ListedFunction = (frame, site, self) => dateOf(frame, site, self).toISOString();
const ms: ListedFunction = (frame, site, self) => timestampFrom(frame, site, self);
const getter =
  (read: (date: Date) => number): ListedFunction =>
  (frame, site, self) =>
    read(dateOf(frame, site, self));
/** Reads a time from the first argument; a number counts in units of `size` milliseconds. */
const ofArgument =
  (size: number): ListedFunction =>
  (frame, site, _, args) =>
    isoOf(frame, site, typeof args[0] === "number" ? args[0] * size : timestampFrom(frame, site, args[0]));
const noZone: LocalTime = () => Number.NaN;
/** Reads the time of `fromISO`. A zone may stand beside it, but there is none here other than UTC. */
const fromIso: ListedFunction = (frame, site, _, args) => {
  const zone = isPlain(args[1]) ? args[1].zone : undefined;
  const isUtc = typeof zone === "string" && /^(?:etc\/)?utc$/i.test(zone);
  const isForeign = zone !== undefined && !isUtc && !frame.unit.isStored;
  if (isForeign && readTimestamp(args[0], noZone) === undefined)
    failEvaluation(frame, site.position, "fromISO knows no zone but UTC: write the offset into the text, such as 2026-11-20T09:30+01:00");
  return isoOf(frame, site, timestampFrom(frame, site, args[0], isUtc ? asUtc : undefined));
};
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
  ["DateTime.fromISO", fromIso],
  ["DateTime.fromJSDate", ofArgument(1)],
  ["DateTime.fromMillis", ofArgument(1)],
  ["DateTime.fromSeconds", ofArgument(1000)],
  ["toISO", iso],
  ["toISOString", iso],
  ["toDateTime", iso],
  ["toISODate", (frame, site, self) => dateOf(frame, site, self).toISOString().replace(/T.*/, "")],
  ["toMillis", ms],
  ["getTime", ms],
  ["toSeconds", (frame, site, self) => timestampFrom(frame, site, self) / 1000],
  ["toFormat", format],
  ["format", format],
  ["plus", shift(1)],
  ["minus", shift(-1)],
  ["startOf", edge(false)],
  ["endOf", edge(true)],
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
