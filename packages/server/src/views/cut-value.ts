import type { Json } from "stepfold";
import type { CutValue } from "stepfold/client";

/** A larger value is told by its size in views that are sent again and again; it can be read by itself. */
export const maxViewedBytes: number = 64 * 1024;

const sizes = new WeakMap<object, number>();

/** Returns the size of a value as JSON, about in bytes. Values never change, so each is measured once. */
export function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)?.length ?? 0;
  let size = sizes.get(value);
  if (size === undefined) {
    size = JSON.stringify(value).length;
    sizes.set(value, size);
  }
  return size;
}

/** Returns what stands in place of a value that the caller may not see, or that is too large: only its size. */
export function cutValue(value: unknown): CutValue {
  return { "~cut": sizeOf(value) };
}

/** Returns a value if it may be seen, and is not too large. */
export function seenValue(value: Json, isSeen: boolean, maxBytes: number = Number.POSITIVE_INFINITY): Json | CutValue {
  return isSeen && (maxBytes === Number.POSITIVE_INFINITY || sizeOf(value) <= maxBytes) ? value : cutValue(value);
}
