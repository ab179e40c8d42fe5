import type { Json } from "../../../core/values/json.ts";
import { describeLocation, isMarkedText, isMarker, type ValueCodec, type ValueLocation } from "./codec.ts";
import { isStructural, type Layout } from "./layout.ts";

/**
 * Throws if stored data contains a value of the user without a marker, and the codec refuses such values. Metadata and permits are checked
 * by their own codecs. `null` is allowed, because it tells no more than an absent field.
 */
export function refusePlainValues(codec: ValueCodec, layout: Layout, stored: unknown, location: ValueLocation): void {
  if (!codec.refusePlain) return;
  const field = plainField(codec.mark, layout, stored as Json, "");
  if (field !== null) throw codec.refusePlain(`${describeLocation(location)} holds "${field}"`);
}

/** Returns the name of the first field that should be a marker but is not; null if there is none. */
function plainField(mark: string, layout: Layout, part: Json | undefined, name: string): string | null {
  if (part === undefined || part === null || isMarker(mark, part)) return null;
  if (typeof layout === "string") return isPlain(mark, layout, part) ? name : null;
  const isList = "listOf" in layout;
  if (typeof part !== "object" || Array.isArray(part) !== isList) return name;
  for (const [key, member] of Object.entries(part)) {
    const found = plainField(mark, memberLayout(layout, key), member as Json, isList ? name : key);
    if (found !== null) return found;
  }
  return null;
}

function isPlain(mark: string, leaf: Layout & string, part: Json): boolean {
  if (leaf === "text" && typeof part === "string") return !isMarkedText(mark, part);
  if (leaf === "structure") return !isStructural(part);
  return leaf !== "metadata" && leaf !== "permit";
}

function memberLayout(layout: Exclude<Layout, string>, key: string): Layout {
  if ("listOf" in layout) return layout.listOf;
  return "recordOf" in layout ? layout.recordOf : (layout.fields.get(key) ?? "value");
}
