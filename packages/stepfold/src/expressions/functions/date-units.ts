const secondMs = 1000;

/** Units of a fixed length, in milliseconds. */
export const fixedUnits: ReadonlyMap<string, number> = new Map([
  ...named(1, "ms", "millisecond", "milliseconds"),
  ...named(secondMs, "s", "sec", "second", "seconds"),
  ...named(60 * secondMs, "m", "min", "minute", "minutes"),
  ...named(3600 * secondMs, "h", "hour", "hours"),
  ...named(86_400 * secondMs, "d", "day", "days"),
  ...named(7 * 86_400 * secondMs, "w", "week", "weeks"),
]);

/** Units whose length depends on the calendar, in months. */
export const calendarUnits: ReadonlyMap<string, number> = new Map([...named(1, "month", "months"), ...named(12, "y", "year", "years")]);

function named(size: number, ...names: string[]): [string, number][] {
  return names.map((name) => [name, size]);
}

const unitPart = /(\d+(?:\.\d+)?) *([a-z]+)[ ,]*/y;

/** A duration: calendar months plus milliseconds. */
export interface Span {
  readonly months: number;
  readonly ms: number;
}

/**
 * Reads a duration such as "2 days", "1h30m" or "-3 months", or a number of milliseconds.
 * Undefined if the value is no duration. Months and years must be whole numbers.
 */
export function readSpan(value: unknown): Span | undefined {
  if (typeof value === "number") return { months: 0, ms: value };
  if (typeof value !== "string" || value.length > 100) return undefined;
  const text = value.trim().toLowerCase();
  const sign = text.startsWith("-") ? -1 : 1;
  let [months, ms] = [0, 0];
  // All calls share this regular expression, so its position is always set before it is used.
  unitPart.lastIndex = sign === -1 ? 1 : 0;
  if (unitPart.lastIndex === text.length) return undefined;
  while (unitPart.lastIndex < text.length) {
    const match = unitPart.exec(text);
    if (match === null) return undefined;
    const amount = Number(match[1]);
    const calendar = calendarUnits.get(match[2]!);
    const fixed = fixedUnits.get(match[2]!);
    if (calendar !== undefined && Number.isInteger(amount)) months += amount * calendar;
    else if (fixed !== undefined) ms += amount * fixed;
    else return undefined;
  }
  return { months: sign * months, ms: sign * ms };
}
