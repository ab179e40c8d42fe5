import type { TimePart } from "../syntax/parse-n8n-word.ts";
import { timeParts } from "./time-parts.ts";

const months = "January February March April May June July August September October November December".split(" ");
const days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");

/** The groups of letters that stand for a number, as in Luxon: the part of the time, and the fewest digits. */
const numbers: Readonly<Record<string, readonly [TimePart, digits: number]>> = {
  ...{ y: ["year", 1], yyyy: ["year", 4], yyyyyy: ["year", 6], q: ["quarter", 1], qq: ["quarter", 2] },
  ...{ M: ["month", 1], MM: ["month", 2], L: ["month", 1], LL: ["month", 2] },
  ...{ d: ["day", 1], dd: ["day", 2], o: ["ordinal", 1], ooo: ["ordinal", 3], E: ["weekday", 1], c: ["weekday", 1] },
  ...{ k: ["weekYear", 1], kkkk: ["weekYear", 4], W: ["weekNumber", 1], WW: ["weekNumber", 2] },
  ...{ H: ["hour", 1], HH: ["hour", 2], m: ["minute", 1], mm: ["minute", 2], s: ["second", 1], ss: ["second", 2] },
  ...{ S: ["millisecond", 1], SSS: ["millisecond", 3], u: ["millisecond", 3] },
};

type Write = (date: Date) => string;

const month: Write = (date) => months[date.getUTCMonth()]!;
const day: Write = (date) => days[timeParts.weekday(date) - 1]!;
/** The hour on a clock of 12 hours. */
const half = (date: Date): number => date.getUTCHours() % 12 || 12;
const first =
  (write: Write, letters: number): Write =>
  (date) =>
    write(date).slice(0, letters);

/** The groups of letters that stand for something else. Names are English, and all is in UTC. */
const others: Readonly<Record<string, Write>> = {
  ...{ yy: (date) => lastTwo(timeParts.year(date)), kk: (date) => lastTwo(timeParts.weekYear(date)) },
  ...{ MMM: first(month, 3), MMMM: month, MMMMM: first(month, 1), LLL: first(month, 3), LLLL: month, LLLLL: first(month, 1) },
  ...{ EEE: first(day, 3), EEEE: day, EEEEE: first(day, 1), ccc: first(day, 3), cccc: day, ccccc: first(day, 1) },
  ...{ h: (date) => String(half(date)), hh: (date) => digits(half(date), 2), a: (date) => (date.getUTCHours() < 12 ? "AM" : "PM") },
  ...{ uu: (date) => digits(Math.floor(date.getUTCMilliseconds() / 10), 2) },
  ...{ uuu: (date) => digits(Math.floor(date.getUTCMilliseconds() / 100), 1) },
  ...{ X: (date) => String(Math.floor(date.getTime() / 1000)), x: (date) => String(date.getTime()) },
  ...{ z: () => "UTC", Z: () => "+0", ZZ: () => "+00:00", ZZZ: () => "+0000", ZZZZ: () => "UTC" },
  ...{ G: (date) => (timeParts.year(date) > 0 ? "AD" : "BC") },
};

function digits(value: number, fewest: number): string {
  return `${value < 0 ? "-" : ""}${String(Math.abs(value)).padStart(fewest, "0")}`;
}

function lastTwo(year: number): string {
  return digits(Math.abs(year) % 100, 2);
}

/** Text in single quotes, in which two quotes stand for one; a quote without an end; a letter as often as it is repeated. */
const pieceForm = /'(?:[^']|'')*'|'|([A-Za-z])\1*/g;

/** Returns what a piece of a pattern stands for; undefined if it stands for nothing. */
function writerOf(piece: string): Write | undefined {
  const number = Object.hasOwn(numbers, piece) ? numbers[piece] : undefined;
  if (number) return (date) => digits(timeParts[number[0]](date), number[1]);
  if (Object.hasOwn(others, piece)) return others[piece];
  if (!piece.startsWith("'") || piece.length === 1) return undefined;
  return () => (piece === "''" ? "'" : piece.slice(1, -1).replaceAll("''", "'"));
}

/** Formats a time by a pattern, such as `d MMM yyyy HH:mm`. A piece without a meaning stands for itself. */
export function formatTime(date: Date, pattern: string): string {
  return pattern.replace(pieceForm, (piece) => writerOf(piece)?.(date) ?? piece);
}

/** What pieces of the patterns of other libraries are called here, beside those in large letters. */
const foreign: Readonly<Record<string, string>> = { ddd: "EEE", dddd: "EEEE", A: "a", tt: "a", fff: "SSS" };

function translated(piece: string): string {
  return foreign[piece] ?? (/^[YDSQ]/.test(piece) ? piece.toLowerCase() : piece);
}

/** Returns what is wrong with a pattern; undefined if nothing is. */
export function patternMistake(pattern: string): string | undefined {
  const wrong = pattern.match(pieceForm)?.find((piece) => !writerOf(piece));
  if (wrong === undefined) return undefined;
  if (wrong === "'") return "the format has a single quote without an end: write two for one that is text";
  const shown = wrong.slice(0, 20);
  const meant = pattern.replace(pieceForm, (piece) => (writerOf(piece) ? piece : translated(piece)));
  const isRight = meant.length <= 100 && meant.match(pieceForm)!.every(writerOf);
  return `"${shown}" means nothing in a format of times${isRight ? `: did you mean "${meant}"?` : "."} Text goes in single quotes: '${shown}'`;
}
