import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** Like `expect(actual, told()).toEqual(expected)`, and quick where they are equal: for what properties compare many thousand times. */
export function expectEqual(actual: unknown, expected: unknown, told?: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, told?.()).toEqual(expected);
}
