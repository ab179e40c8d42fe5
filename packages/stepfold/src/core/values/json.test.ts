import { expect, it } from "vitest";
import { type Json, sizeOfJson } from "./json.ts";
import { defaultLimits } from "./limits.ts";
import { normalise } from "./to-json.ts";

it("a value has the size with which it was taken in", () => {
  const values: readonly Json[] = [null, true, "text", 7, -1, 1e6, 0.5, [1, [2]], { a: { b: [null, "c"] } }, [], {}];
  for (const value of values) expect(sizeOfJson(value), JSON.stringify(value)).toBe(normalise(value, "It", defaultLimits).sizeBytes);
});
