import { type Span, type TimeUnit, timeUnit, unitSpan } from "../../core/values/duration.ts";
import { asUtc, type LocalTime, lacksOffset, readTimestamp } from "../../core/values/timestamp.ts";
import { payToRead } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";
import { formatTime, patternMistake } from "./format-time.ts";
import { weekday } from "./time-parts.ts";

/** The steps that reading or making a date takes. */
const timePrice = 4;

/** What calls a function of time. */
export interface TimeCall {
  readonly name: string;
  /** The beginning of the message about a value that is no time. */
  readonly needs: string;
  readonly position: number;
}

/** Returns the message about a time without an offset; undefined for any other value. The text is not shown, because it may be a secret. */
export function offsetMistake(name: string, value: unknown): string | undefined {
  if (!lacksOffset(value)) return undefined;
  return `${name} needs ISO text with an offset, such as "2026-11-20T09:30:00Z" or "2026-11-20T09:30+01:00": this time has none, and may mean local time`;
}

/**
 * Reads a time, which is text or milliseconds. In a definition that was stored, perhaps by an earlier version, a time without an offset is
 * UTC.
 */
export function timeFrom(frame: Frame, { name, needs, position }: TimeCall, value: unknown, local?: LocalTime): number {
  charge(frame, timePrice);
  if (typeof value === "string") payToRead(frame, value);
  const at = readTimestamp(value, frame.unit.isStored ? asUtc : local);
  if (at !== undefined) return at;
  const shown = typeof value === "string" ? "another text" : kindOf(value);
  const mistake = `${needs} of a date that exists, such as "2026-11-20T09:30:00Z", or milliseconds, not ${shown}`;
  return failEvaluation(frame, position, offsetMistake(name, value) ?? mistake);
}

/** Returns a time as a date. A time outside the range of dates fails the evaluation. */
export function dateAt(frame: Frame, { name, position }: TimeCall, at: number): Date {
  charge(frame, timePrice);
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? failEvaluation(frame, position, `${name} leads to a date that does not exist`) : date;
}

/** Formats a time. In a definition that was stored, perhaps by an earlier version, letters without a meaning stand for themselves. */
export function formatAt(frame: Frame, call: TimeCall, at: number, pattern: string): string {
  const date = dateAt(frame, call, at);
  charge(frame, pattern.length / 8);
  grow(frame, pattern.length * 2);
  const mistake = frame.unit.isStored ? undefined : patternMistake(pattern);
  if (mistake !== undefined) failEvaluation(frame, call.position, mistake);
  const text = formatTime(date, pattern);
  grow(frame, Math.max(0, text.length - pattern.length * 2));
  return text;
}

/** Adds calendar months. If the new month has no such day, its last day is used: January 31 plus one month is February 28 or 29. */
function addMonths(at: number, months: number): number {
  if (months === 0) return at;
  const date = new Date(at);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(date.getTime());
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return date.setUTCDate(Math.min(day, last.getUTCDate()));
}

/** Returns the time that lies a duration after another time, or, if `sign` is -1, before it. Months are added first. */
export function addSpan(at: number, { months, ms }: Span, sign: 1 | -1): number {
  return addMonths(at, sign * months) + sign * ms;
}

/** Returns when the unit around a date begins. Weeks begin on Monday. */
export function startOf(date: Date, unit: TimeUnit): number {
  const { months, ms } = unitSpan(unit);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (months > 0) return new Date(0).setUTCFullYear(year, month - (month % months), 1);
  const start = Math.floor(date.getTime() / ms) * ms;
  return unit === "week" ? startOf(date, "day") - (weekday(date) - 1) * unitSpan("day").ms : start;
}

/** Returns how many units lie between two times; undefined if the word names no unit of a fixed length. */
export function between(from: number, to: number, word: string): number | undefined {
  const unit = timeUnit(word);
  const ms = unit === undefined ? 0 : unitSpan(unit).ms;
  return ms === 0 ? undefined : (to - from) / ms;
}
