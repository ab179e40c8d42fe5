import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** Does the same as `expect(actual, told()).toEqual(expected)`, but faster if both are equal, for properties that compare very often. */
export function expectEqual(actual: unknown, expected: unknown, told?: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, told?.()).toEqual(expected);
}
