import { readTimestamp } from "../../core/values/timestamp.ts";
import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";
import { type CallSite, type ListedFunction, textAt } from "./argument.ts";
import { calendarUnits, fixedUnits, readSpan, type Span } from "./date-units.ts";

function timestampAt(frame: Frame, site: CallSite, args: readonly unknown[], index: number): number {
  charge(frame, 1);
  const moment = readTimestamp(args[index]);
  if (moment !== undefined) return moment;
  // The message does not show the text, because the text may be a secret.
  const shown = typeof args[index] === "string" ? "another text" : kindOf(args[index]);
  return failEvaluation(
    frame,
    site.position,
    `date.${site.name} needs ISO text of a date that exists, such as "2026-11-20T09:30:00Z", or milliseconds, not ${shown}`,
  );
}

/** Returns the ISO text of a time. A time outside the range of dates fails the evaluation. */
function iso(frame: Frame, site: CallSite, moment: number): string {
  charge(frame, 1);
  if (readTimestamp(moment) === undefined) failEvaluation(frame, site.position, `date.${site.name} leads to a date that does not exist`);
  return new Date(moment).toISOString();
}

/** Adds calendar months. If the new month has no such day, its last day is used: January 31 plus one month is February 28 or 29. */
function addMonths(moment: number, months: number): number {
  if (months === 0) return moment;
  const date = new Date(moment);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(date.getTime());
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return date.setUTCDate(Math.min(day, last.getUTCDate()));
}

/** Returns the time that lies a duration after another time, or, if `sign` is -1, before it. Months are added first. */
export function addSpan(moment: number, { months, ms }: Span, sign: 1 | -1): number {
  return addMonths(moment, sign * months) + sign * ms;
}

const add =
  (sign: 1 | -1): ListedFunction =>
  (frame, site, _, args) => {
    const moment = timestampAt(frame, site, args, 0);
    charge(frame, 2);
    const span = readSpan(args[1]);
    if (span === undefined) failEvaluation(frame, site.position, `date.${site.name} needs a time such as "2 days", "1h30m" or "3 months"`);
    return iso(frame, site, addSpan(moment, span, sign));
  };

const diff: ListedFunction = (frame, site, _, args) => {
  const size = fixedUnits.get(textAt(frame, site, args, 2, "ms"));
  if (size === undefined) failEvaluation(frame, site.position, "date.diff counts in ms, seconds, minutes, hours, days or weeks");
  return (timestampAt(frame, site, args, 0) - timestampAt(frame, site, args, 1)) / size;
};

const startOf: ListedFunction = (frame, site, _, args) => {
  const text = iso(frame, site, timestampAt(frame, site, args, 0));
  const unit = textAt(frame, site, args, 1);
  const months = calendarUnits.get(unit);
  const size = fixedUnits.get(unit);
  // The search begins at 1, because a year before 0 has a minus sign.
  const year = text.indexOf("-", 1);
  if (months !== undefined) return `${text.slice(0, months === 1 ? year + 3 : year)}${months === 1 ? "" : "-01"}-01T00:00:00.000Z`;
  if (size === undefined || size > 86_400_000)
    failEvaluation(frame, site.position, "date.startOf needs second, minute, hour, day, month or year");
  const moment = timestampAt(frame, site, args, 0);
  return iso(frame, site, Math.floor(moment / size) * size);
};

const format: ListedFunction = (frame, site, _, args) => {
  const text = iso(frame, site, timestampAt(frame, site, args, 0));
  const pattern = textAt(frame, site, args, 1, "yyyy-MM-dd");
  charge(frame, pattern.length / 32);
  grow(frame, pattern.length * 2);
  const year = text.indexOf("-", 1);
  const parts: Readonly<Record<string, string>> = {
    yyyy: text.slice(0, year),
    MM: text.slice(year + 1, year + 3),
    dd: text.slice(year + 4, year + 6),
    HH: text.slice(year + 7, year + 9),
    mm: text.slice(year + 10, year + 12),
    ss: text.slice(year + 13, year + 15),
    SSS: text.slice(year + 16, year + 19),
  };
  return pattern.replace(/yyyy|MM|dd|HH|mm|ss|SSS/g, (part) => parts[part]!);
};

/**
 * The largest number of arguments of each function. More arguments are refused, because they are
 * probably a mistake: JavaScript has no such functions, so nobody could know that they are ignored.
 */
export const maxDateArguments: ReadonlyMap<string, number> = new Map([
  ["parse", 1],
  ["iso", 1],
  ["format", 2],
  ["add", 2],
  ["subtract", 2],
  ["diff", 3],
  ["startOf", 2],
]);

/** Returns the message about too many arguments. */
export function tooManyDateArguments(name: string, count: number): string {
  const example = name === "add" || name === "subtract" ? `. A time is one text: date.${name}(when, "2 days")` : "";
  const most = maxDateArguments.get(name)!;
  return `date.${name} takes ${most} argument${most === 1 ? "" : "s"}, not ${count}${example}`;
}

/** Adds a check of the number of arguments to a function. */
const counted =
  (name: string, listed: ListedFunction): ListedFunction =>
  (frame, site, self, args) => {
    if (args.length > maxDateArguments.get(name)!) failEvaluation(frame, site.position, tooManyDateArguments(name, args.length));
    return listed(frame, site, self, args);
  };

/** The functions without a check of the number of arguments. */
const unlimited: Readonly<Record<string, ListedFunction>> = {
  parse: (frame, site, _, args) => timestampAt(frame, site, args, 0),
  iso: (frame, site, _, args) => iso(frame, site, timestampAt(frame, site, args, 0)),
  format,
  add: add(1),
  subtract: add(-1),
  diff,
  startOf,
};

/** The functions of `date`, all in UTC. A time is ISO text or milliseconds. No function reads a clock: `$now` is in the scope. */
export const dateFunctions: ReadonlyMap<string, ListedFunction> = new Map(
  Object.entries(unlimited).map(([name, listed]) => [name, counted(name, listed)]),
);
