const timestampForm = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/;
/** The last moment that a Date can hold. */
export const lastMs = 8.64e15;
const minuteMs = 60_000;

/**
 * Reads a moment and returns it as milliseconds since 1970. The value is a number of milliseconds, or ISO 8601 text such as `2026-11-20`,
 * `2026-11-20T09:30` or `2026-11-20T09:30:00.250+01:00`. Text without a time zone is UTC on every machine. Undefined for any other value.
 */
export function readTimestamp(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && Math.abs(value) <= lastMs ? Math.trunc(value) : undefined;
  const match = typeof value === "string" && value.length <= 40 ? timestampForm.exec(value) : null;
  if (match === null) return undefined;
  const [, years, months, days, hours = "0", minutes = "0", seconds = "0", fraction = "", zone = "Z"] = match;
  const [year, month, day, hour, minute, second] = [years, months, days, hours, minutes, seconds].map(Number) as Six;
  const offset = offsetOf(zone);
  const midnight = Date.UTC(year, month - 1, day);
  // Date.UTC takes February 30 for March 2; such a text is a mistake.
  const exists = new Date(midnight).getUTCDate() === day && new Date(midnight).getUTCFullYear() === year && month <= 12;
  if (!exists || hour > 23 || minute > 59 || second > 59 || offset === undefined) return undefined;
  const millisecond = Number(fraction.padEnd(3, "0").slice(0, 3));
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond - offset;
}

type Six = [number, number, number, number, number, number];

function offsetOf(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * minuteMs;
}
