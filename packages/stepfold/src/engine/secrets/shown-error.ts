import { safeMember } from "../../core/errors/safe-member.ts";
import { isSearched } from "./is-searched.ts";
import type { Scrub } from "./scrubber.ts";

/** How deep, and in how many values, texts of an error are cleaned. */
const maxDepth = 6;
const maxValues = 2_000;

/**
 * Returns what was thrown as hooks may see it: the same value if its texts contain no secret, else a copy of the same class without them. Its
 * message, its stack, its causes and all texts in plain members are cleaned; objects of other classes that it holds stay as they are.
 */
export function shownError(thrown: unknown, scrub: Scrub): unknown {
  let left = maxValues;
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return scrub(value);
    if (typeof value !== "object" || value === null || depth > maxDepth || left-- <= 0) return value;
    const isError = value instanceof Error;
    if (!isError && !isSearched(value)) return value;
    const members = Object.getOwnPropertyDescriptors(value) as Record<string, PropertyDescriptor>;
    // in newer versions of V8 the stack is a pair of functions, which would show the stack of the copy
    if (isError) members.stack = { value: safeMember(value, "stack"), writable: true, enumerable: false, configurable: true };
    let isClean = true;
    for (const member of Object.values(members)) {
      const cleaned = "value" in member ? clean(member.value, depth + 1) : member.value;
      if (cleaned === member.value) continue;
      isClean = false;
      member.value = cleaned;
    }
    if (isClean) return value;
    const copy: object = isError ? new Error("") : Array.isArray(value) ? [] : {};
    return Object.defineProperties(Object.setPrototypeOf(copy, Object.getPrototypeOf(value) as object | null) as object, members);
  };
  try {
    return clean(thrown, 0);
  } catch {
    // a proxy that throws: it has no text that could be read
    return thrown;
  }
}
