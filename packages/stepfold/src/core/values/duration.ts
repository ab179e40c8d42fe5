import { StepfoldError } from "../errors/stepfold-error.ts";

/** Milliseconds, or text such as `"90s"`, `"1h30m"`, `"2 days"`, `"PT5M"`, `"PT1.5H"`. */
export type Duration = number | string;

/** A length of time: calendar months, whose length differs, and milliseconds. */
export interface Span {
  readonly months: number;
  readonly ms: number;
}

/** A unit of time. */
export type TimeUnit = "millisecond" | "second" | "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const units: Readonly<Record<TimeUnit, Span>> = {
  millisecond: { months: 0, ms: 1 },
  second: { months: 0, ms: 1_000 },
  minute: { months: 0, ms: 60_000 },
  hour: { months: 0, ms: hourMs },
  day: { months: 0, ms: dayMs },
  week: { months: 0, ms: 7 * dayMs },
  month: { months: 1, ms: 0 },
  quarter: { months: 3, ms: 0 },
  year: { months: 12, ms: 0 },
};

/** Every way to write a unit, in small letters. */
const spellings: ReadonlyMap<string, TimeUnit> = new Map([
  ...spelled("millisecond", "ms msec msecs millis milliseconds"),
  ...spelled("second", "s sec secs seconds"),
  ...spelled("minute", "m min mins minutes"),
  ...spelled("hour", "h hr hrs hours"),
  ...spelled("day", "d days"),
  ...spelled("week", "w wk wks weeks"),
  ...spelled("month", "mo mos months"),
  ...spelled("quarter", "quarters"),
  ...spelled("year", "y yr yrs years"),
]);

function spelled(unit: TimeUnit, others: string): [string, TimeUnit][] {
  return [unit, ...others.split(" ")].map((word) => [word, unit]);
}

/** The length of the longest word for a unit. */
const maxWordLength = Math.max(...[...spellings.keys()].map(({ length }) => length));

/** Returns the unit that a word names, such as `h`, `hr` or `Hours`; undefined if there is none. */
export function timeUnit(word: string): TimeUnit | undefined {
  // a copy of a huge text in small letters would take as long as reading it a hundred times
  return word.length > maxWordLength ? undefined : spellings.get(word.toLowerCase());
}

/** Returns the length of a unit. */
export function unitSpan(unit: TimeUnit): Span {
  return units[unit];
}

/**
 * Reads a length of time: a number of milliseconds, or text such as `"90s"`, `"1h30m"`, `"-2 days"`, `"3 months"`, `"P1Y2M"`, `"PT1.5H"`.
 * Undefined for anything else. Months, quarters and years must be whole numbers.
 */
export function readSpan(value: unknown): Span | undefined {
  if (typeof value === "number") return { months: 0, ms: value };
  if (typeof value !== "string" || value.length > 100) return undefined;
  const text = value.trim();
  if (!text.startsWith("-")) return readText(text);
  const span = readText(text.slice(1));
  return span && { months: 0 - span.months, ms: 0 - span.ms };
}

function readText(text: string): Span | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return { months: 0, ms: Number(text) };
  const parts = /^p/i.test(text) ? isoParts(text) : plainParts(text);
  if (parts.length === 0) return undefined;
  let [months, ms] = [0, 0];
  for (const { amount, unit } of parts) {
    if (unit === undefined || (units[unit].months > 0 && !Number.isInteger(amount))) return undefined;
    months += amount * units[unit].months;
    ms += amount * units[unit].ms;
  }
  return { months, ms };
}

/** A part of a text, such as `2 days`. The unit is undefined if there is no such unit. */
interface Part {
  readonly amount: number;
  readonly unit: TimeUnit | undefined;
}

/** Splits `1h 30m` into its parts. Empty if the text is something else. */
function plainParts(text: string): Part[] {
  if (!/^(?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+$/i.test(text)) return [];
  return [...text.matchAll(/([\d.]+)\s*([a-z]+)/gi)].map(([, amount, word]) => ({ amount: Number(amount), unit: timeUnit(word!) }));
}

const isoForm = /^P(?:([\d.,]+)Y)?(?:([\d.,]+)M)?(?:([\d.,]+)W)?(?:([\d.,]+)D)?(?:T(?:([\d.,]+)H)?(?:([\d.,]+)M)?(?:([\d.,]+)S)?)?$/i;
const isoUnits: readonly TimeUnit[] = ["year", "month", "week", "day", "hour", "minute", "second"];

/** Splits text of ISO 8601 into its parts. Only the last one may have a fraction. Empty if the text is something else. */
function isoParts(text: string): Part[] {
  const amounts = /t$/i.test(text) ? [] : (isoForm.exec(text)?.slice(1) ?? []);
  const given = isoUnits.flatMap((unit, i) => (amounts[i] === undefined ? [] : [{ text: amounts[i], unit }]));
  const isRight = given.every((part, i) => (i === given.length - 1 ? /^\d+(?:[.,]\d+)?$/ : /^\d+$/).test(part.text));
  return isRight ? given.map((part) => ({ amount: Number(part.text.replace(",", ".")), unit: part.unit })) : [];
}

/**
 * Returns a duration in whole milliseconds. A number is milliseconds already; text is `"250"`, `"90s"`, `"1h30m"`, `"2 days"`
 * or ISO 8601 (`"PT5M"`, `"PT1.5H"`, `"P1DT12H"`). Months and years have no fixed length and are refused.
 *
 * @throws StepfoldError `DURATION_INVALID` for anything else, also for a negative or infinite number
 *
 * ```ts
 * durationMs("1h30m"); // 5400000
 * ```
 */
export function durationMs(duration: Duration): number {
  const { months, ms } = readSpan(duration) ?? { months: 0, ms: Number.NaN };
  if (months === 0 && Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  const isWritten = typeof duration === "string" || typeof duration === "number";
  const text = isWritten ? String(duration).slice(0, 100) : `a value of type ${typeof duration}`;
  throw new StepfoldError("DURATION_INVALID", months === 0 ? { text } : { text, hasMonths: true });
}
