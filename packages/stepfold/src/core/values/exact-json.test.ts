import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactJson } from "./exact-json.ts";

describe("exactJson", () => {
  it("keeps what a JavaScript number cannot hold as text", () => {
    expect(exactJson("[9007199254740991, 9007199254740992, 9007199254740993, -9007199254740993]")).toEqual([
      9007199254740991,
      9007199254740992,
      "9007199254740993",
      "-9007199254740993",
    ]);
    expect(exactJson('{"far":1e400,"near":1e300,"small":1e-400}')).toEqual({ far: "1e400", near: 1e300, small: 0 });
    expect(exactJson(`{"a":{"b":[${"9".repeat(5_000)}]}}`)).toEqual({ a: { b: ["9".repeat(5_000)] } });
  });

  it("does not touch text, and refuses what is not JSON", () => {
    expect(exactJson('{"9007199254740993":"9007199254740993"}')).toEqual({ "9007199254740993": "9007199254740993" });
    expect(() => exactJson("{9007199254740993}")).toThrow(SyntaxError);
  });

  it("gives back every whole number as it was written", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (number) => {
        expect(BigInt(exactJson(`[${number}]`)![0 as never])).toBe(number);
      }),
    );
  });

  it("is JSON.parse for all that a JavaScript number holds", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed: unknown = JSON.parse(text);
        expect(exactJson(JSON.stringify(parsed))).toEqual(parsed);
      }),
    );
  });
});
