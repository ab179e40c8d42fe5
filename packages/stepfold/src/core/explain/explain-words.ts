import type { EpochMs } from "../values/json.ts";

/** The last time that a `Date` can hold. */
const lastMs = 8.64e15;
/** The largest number of entries in a list, including the entry that counts the rest. */
const maxNames = 5;

/** Returns a time in ISO 8601, such as `2026-01-31T09:00:00.000Z`; times that are too late for a `Date` as a number. */
export function iso(at: EpochMs): string {
  return at <= lastMs ? new Date(at).toISOString() : String(at);
}

/** Returns `a, b or c`. If there are more than five names, the first four and the number of the others: `a, b, c, d or 3 more`. */
export function listed(names: readonly string[], last: "and" | "or", most: number = maxNames): string {
  const shown = names.length > most ? [...names.slice(0, most - 1), `${counted(names.length - most + 1)} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} ${last} ${shown.at(-1)}`;
}

/** Lists the first names of a list that may be very long, each once: `a, b and c`, `a, b, c and 997 more`. */
export function namesText(names: Iterable<string>, last: "and" | "or" = "and"): string {
  return listed([...new Set(names)], last, 4);
}

/** Returns a number with separators, such as `10,000`. */
export function counted(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Returns how often something has happened: `once`, `twice`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${counted(count)} times`;
}

/**
 * Returns a text on one line, cut to at most `maxLength` characters. Signs that would turn the direction of the words around it, or look like the
 * marks of a sentence, are left out.
 */
export function cut(text: string, maxLength: number): string {
  const line = text
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdd4]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : line;
}
