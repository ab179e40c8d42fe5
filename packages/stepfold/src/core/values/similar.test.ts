import { describe, expect, it } from "vitest";
import { similar } from "./similar.ts";

describe("similar", () => {
  it.each([
    ["sourcehandle", "sourceHandle"],
    ["soruce", "source"],
    ["targe", "target"],
    ["typ", "type"],
  ])("finds what %j was meant to be", (word, meant) => {
    expect(similar(word, ["id", "type", "source", "target", "sourceHandle"])).toBe(meant);
  });

  it("takes the closest, and says nothing of what is too far off", () => {
    expect(similar("approvl", ["approved", "approval"])).toBe("approval");
    expect(similar("position", ["description"])).toBeUndefined();
    expect(similar("x", ["y"])).toBeUndefined();
    expect(similar("anything", [])).toBeUndefined();
  });
});
