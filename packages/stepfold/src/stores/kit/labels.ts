import type { Json } from "../../core/values/json.ts";

/**
 * What of metadata a list can search for: each key with its value as one text. Two are the same text if, and only if, key and
 * value are equal. So no database has to look into JSON, which some cannot for every text and number.
 */
export function labelsOf(metadata: Readonly<Record<string, Json>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => value !== undefined && (value === null || typeof value !== "object"))
    .map(
      ([key, value]) => `[${JSON.stringify(key)},${typeof value === "number" && !Number.isFinite(value) ? value : JSON.stringify(value)}]`,
    );
}
