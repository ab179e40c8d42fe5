import type { Json } from "../../../core/values/json.ts";
import { sha256 } from "../../../core/values/sha256.ts";

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
    .map(
      ([key, value]) => `[${JSON.stringify(key)},${typeof value === "number" && !Number.isFinite(value) ? value : JSON.stringify(value)}]`,
    )
    .map((label) => `${separator}${label.length > maxLength ? `#${sha256(label)}` : label}${separator}`);
}

/** All labels as one text, which a database can search. */
export function labelText(labels: readonly string[]): string {
  return labels.join("");
}

/** The labels in a text, without what stands around them. */
export function labelsIn(text: string): string[] {
  return text.split(separator).filter(Boolean);
}
