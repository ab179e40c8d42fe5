import type { Json } from "../../core/values/json.ts";

/**
 * What of metadata can be searched, each key with its value as one text: two are the same text if, and only if, they are
 * equal. So PostgreSQL never has to look into the JSON, which it may not be able to, and finds them by an index.
 */
export function labelsOf(metadata: Readonly<Record<string, Json>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => value === null || typeof value !== "object")
    .map(
      ([key, value]) => `[${JSON.stringify(key)},${typeof value === "number" && !Number.isFinite(value) ? value : JSON.stringify(value)}]`,
    );
}
