import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { Json } from "../../../core/values/json.ts";
import { sha256 } from "../../../core/values/sha256.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";
import { waitsKey } from "./metadata-column.ts";

/** Stands around every label in a text. JSON never holds it raw. */
const separator = "\u001d";

const maxLength = 300;

/**
 * What of metadata a list can search for: each key with its value as one text. Two are the same text if, and only if, key and
 * value are equal. So no database has to look into JSON, which some cannot for every text and number.
 *
 * Of a long one there is only its hash: indexes hold short texts. Each has a separator on either side: it is in the text that `labelText` makes of labels exactly if it is one of them.
 */
export function labelsOf(metadata: Readonly<Record<string, Json>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => value !== undefined && (value === null || typeof value !== "object"))
    .map(([key, value]) => labelOf(key, value));
}

/** What of waits a list can search for: each thing that one of them says, once. That all of it is true of one wait is for the list to see. */
export function waitLabels(waits: readonly ListedWait[]): string[] {
  const labels = waits.flatMap(({ responders = [], ...wait }) => [
    ...(["kind", "nodeId", "signal", "key"] as const).flatMap((field) => waitLabel(field, wait[field])),
    ...responders.flatMap((name) => waitLabel("responder", name)),
  ]);
  return [...new Set(labels)];
}

/** The labels of an execution that may have such a wait. */
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

/** All labels as one text, which a database can search. */
export function labelText(labels: readonly string[]): string {
  return labels.join("");
}

/** The labels in a text, without what stands around them. */
export function labelsIn(text: string): string[] {
  return text.split(separator).filter(Boolean);
}
