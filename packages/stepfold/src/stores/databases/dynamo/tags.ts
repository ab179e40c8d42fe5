import type { Json } from "../../../core/values/json.ts";
import { bytesOf } from "../../kit/value-limit.ts";

/** Most bytes of all tags of an execution: they lie in its head, and every commit pays for the size of that. */
const mostBytes = 1024;

/** A key of the metadata with its value, as the index holds it to be asked for; null if it is too long for that. */
export function tagOf(key: string, value: Json): string | null {
  const tag = JSON.stringify([key, value]);
  return bytesOf(tag) > mostBytes ? null : tag;
}

/** Tags of all values that can be asked for. Null if they are too long: then the index leaves the execution in, and the list looks at its metadata. */
export function tagsOf(metadata: Readonly<Record<string, Json>>): readonly string[] | null {
  const tags: string[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === "object" && value !== null) continue;
    const tag = tagOf(key, value);
    if (tag === null) return null;
    size += bytesOf(tag);
    if (size > mostBytes) return null;
    tags.push(tag);
  }
  return tags;
}
