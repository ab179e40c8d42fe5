import type { TimePart } from "../syntax/parse-n8n-word.ts";

const dayMs = 86_400_000;

/** The parts of a time in UTC. Weeks are those of ISO 8601: they begin on Monday and belong to the year of their Thursday. */
export const timeParts: Readonly<Record<TimePart, (date: Date) => number>> = {
  year: (date) => date.getUTCFullYear(),
  quarter: (date) => Math.floor(date.getUTCMonth() / 3) + 1,
  month: (date) => date.getUTCMonth() + 1,
  day: (date) => date.getUTCDate(),
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  second: (date) => date.getUTCSeconds(),
  millisecond: (date) => date.getUTCMilliseconds(),
  weekday,
  weekNumber: (date) => Math.ceil(ordinal(thursday(date)) / 7),
  weekYear: (date) => thursday(date).getUTCFullYear(),
  ordinal,
};

/** 1 for Monday, 7 for Sunday. */
export function weekday(date: Date): number {
  return date.getUTCDay() || 7;
}

/** The number of the day in its year, from 1. */
function ordinal(date: Date): number {
  const year = date.getUTCFullYear();
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const [like, month, day] = [isLeap ? 2000 : 2001, date.getUTCMonth(), date.getUTCDate()];
  return (Date.UTC(like, month, day) - Date.UTC(like, 0, 1)) / dayMs + 1;
}

/** The Thursday of the same week. */
function thursday(date: Date): Date {
  return new Date(date.getTime() + (4 - weekday(date)) * dayMs);
}
