import { readSpan, timeUnit } from "../../core/values/duration.ts";
import { charge, failEvaluation } from "../evaluation/frame.ts";
import { type CallSite, type ListedFunction, textAt } from "./argument.ts";
import { addSpan, between, dateAt, formatAt, startOf, type TimeCall, timeFrom } from "./times.ts";

function callOf({ name, position }: CallSite): TimeCall {
  return { name: `date.${name}`, needs: `date.${name} needs ISO text`, position };
}

const add =
  (sign: 1 | -1): ListedFunction =>
  (frame, site, _, args) => {
    const call = callOf(site);
    const at = timeFrom(frame, call, args[0]);
    charge(frame, 2);
    const span = readSpan(args[1]);
    if (span === undefined)
      failEvaluation(frame, site.position, `${call.name} needs a time such as "2 days", "1h30m", "3 months" or "P7D"`);
    return dateAt(frame, call, addSpan(at, span, sign)).toISOString();
  };

const diff: ListedFunction = (frame, site, _, args) => {
  const call = callOf(site);
  const unit = textAt(frame, site, args, 2, "ms");
  const units = between(timeFrom(frame, call, args[1]), timeFrom(frame, call, args[0]), unit);
  return units ?? failEvaluation(frame, site.position, "date.diff counts in ms, seconds, minutes, hours, days or weeks");
};

const start: ListedFunction = (frame, site, _, args) => {
  const call = callOf(site);
  const date = dateAt(frame, call, timeFrom(frame, call, args[0]));
  const unit = timeUnit(textAt(frame, site, args, 1));
  if (unit === undefined || unit === "week" || unit === "quarter")
    failEvaluation(frame, site.position, "date.startOf needs second, minute, hour, day, month or year");
  return dateAt(frame, call, startOf(date, unit)).toISOString();
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
  parse: (frame, site, _, args) => timeFrom(frame, callOf(site), args[0]),
  iso: (frame, site, _, args) => dateAt(frame, callOf(site), timeFrom(frame, callOf(site), args[0])).toISOString(),
  format: (frame, site, _, args) =>
    formatAt(frame, callOf(site), timeFrom(frame, callOf(site), args[0]), textAt(frame, site, args, 1, "yyyy-MM-dd")),
  add: add(1),
  subtract: add(-1),
  diff,
  startOf: start,
};

/** The functions of `date`, all in UTC. A time is ISO text or milliseconds. No function reads a clock: `$now` is in the scope. */
export const dateFunctions: ReadonlyMap<string, ListedFunction> = new Map(
  Object.entries(unlimited).map(([name, listed]) => [name, counted(name, listed)]),
);
