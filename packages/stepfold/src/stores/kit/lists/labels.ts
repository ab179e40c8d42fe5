import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import { sha256 } from "../../../core/values/hash/sha256.ts";
import type { Json } from "../../../core/values/json.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";
import { waitsKey } from "./metadata-column.ts";

/** The character before and after every label in a text. JSON text never contains it unescaped. */
const separator = "\u001d";
/** A label with more characters than this is replaced by its hash. */
const maxLength = 300;

/**
 * Makes the labels of metadata, by which lists search: one text for each key with its value, except lists and objects. Two labels are equal
 * if, and only if, key and value are equal. So no database has to search in JSON, which some databases cannot do for every text and number.
 *
 * A long label is replaced by its hash, because indexes hold short texts. Each label has a separator on both sides: it occurs in a text of
 * `labelText` only if it is one of the labels of that text.
 */
export function labelsOf(metadata: Readonly<Record<string, Json>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => value !== undefined && (value === null || typeof value !== "object"))
    .map(([key, value]) => labelOf(key, value));
}

/**
 * Makes the labels of waits: one for each different value of a field in any of the waits. The list itself has to check that one and the
 * same wait has all values of a query.
 */
export function waitLabels(waits: readonly ListedWait[]): string[] {
  const labels = waits.flatMap(({ responders = [], ...wait }) => [
    ...(["kind", "nodeId", "signal", "key"] as const).flatMap((field) => waitLabel(field, wait[field])),
    ...responders.flatMap((name) => waitLabel("responder", name)),
  ]);
  return [...new Set(labels)];
}

/** Returns the labels that an execution must have if one of its waits matches the filter. */
export function askedLabels(waiting: WaitFilter): string[] {
  return (["kind", "nodeId", "signal", "key", "responder"] as const).flatMap((field) => waitLabel(field, waiting[field]));
}

function waitLabel(field: keyof WaitFilter, value: string | undefined): string[] {
  return value === undefined ? [] : [labelOf(`${waitsKey}/${field}`, value)];
}

function labelOf(key: string, value: Json): string {
  const text = `[${JSON.stringify(key)},${typeof value === "number" && !Number.isFinite(value) ? value : JSON.stringify(value)}]`;
  return `${separator}${text.length > maxLength ? `#${sha256(text)}` : text}${separator}`;
}

/** Joins labels to one text, which a database can search. */
export function labelText(labels: readonly string[]): string {
  return labels.join("");
}

/** Returns the labels in a text, without their separators. */
export function labelsIn(text: string): string[] {
  return text.split(separator).filter(Boolean);
}
