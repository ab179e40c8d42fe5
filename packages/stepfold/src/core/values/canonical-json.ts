import { isJsonObject, type Json } from "./json.ts";

/** Returns JSON text in which the keys of every object are sorted, so that equal values give equal text (as RFC 8785, for JSON values). */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`);
  return `{${members.join(",")}}`;
}
