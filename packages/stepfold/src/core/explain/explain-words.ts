import type { EpochMs } from "../values/json.ts";

/** The last moment that ISO 8601 can write. */
const lastMs = 8.64e15;
const maxNames = 5;

/** A moment as people and programs read it: `2026-01-31T09:00:00.000Z`. */
export function iso(at: EpochMs): string {
  return at <= lastMs ? new Date(at).toISOString() : String(at);
}

/** `a, b or c`; of many the first five, and how many more there are. */
export function listed(names: readonly string[], last: "and" | "or"): string {
  const shown = names.length > maxNames ? [...names.slice(0, maxNames - 1), `${counted(names.length - maxNames + 1)} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} ${last} ${shown.at(-1)}`;
}

/** A number for people: `10,000`. */
export function counted(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A text on one line, cut to a length. */
export function cut(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : line;
}
