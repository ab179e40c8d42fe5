import { describe, expect, it } from "vitest";
import { namesText } from "./names-text.ts";

describe("namesText", () => {
  it("names a few of many, each once", () => {
    expect(namesText([])).toBe("");
    expect(namesText(["a", "a"])).toBe("a");
    expect(namesText(["a", "b"], "or")).toBe("a or b");
    expect(namesText(["a", "b", "c", "d"])).toBe("a, b, c and d");
    expect(namesText(Array.from({ length: 1_000 }, (_, i) => `m[${i}]`))).toBe("m[0], m[1], m[2] and 997 more");
  });
});
