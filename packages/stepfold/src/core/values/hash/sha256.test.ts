import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sha256 } from "./sha256.ts";

const oracle = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

describe("sha256", () => {
  it.each([0, 1, 54, 55, 56, 57, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 1000])("agrees with the platform on %i bytes", (length) => {
    const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + (i % 90))).join("");
    expect(sha256(text)).toBe(oracle(text));
  });

  it.each(["ä", "é̂", "漢字", "😀", "\u0000", "\u07ff\u0800\uffff", "a😀ß漢".repeat(40)])("agrees with the platform on %j", (text) => {
    expect(sha256(text)).toBe(oracle(text));
  });

  it("agrees with the platform on a megabyte", () => {
    const text = "stepfold ".repeat(120_000);
    expect(sha256(text)).toBe(oracle(text));
  });
});
