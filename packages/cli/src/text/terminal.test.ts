import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { control, terminalText } from "./terminal.ts";

describe("F15: what a terminal is sent", () => {
  it("has the control sequences of our own", () => {
    expect(terminalText(`${control("[32m")}✔${control("[39m")} done\n`)).toBe("\u001b[32m✔\u001b[39m done\n");
    expect(terminalText(control("[3A\r"))).toBe("\u001b[3A\r");
  });

  it("shows those of others, and turns nothing round", () => {
    expect(terminalText("a\u001b]0;title\u0007\u009b31m\r\u202eb\u200b\ud800\u{e0001}")).toBe(
      "a\\u001b]0;title\\u0007\\u009b31m\\u000d\\u202eb\\u200b\\ud800\\udb40\\udc01",
    );
    expect(JSON.parse(terminalText(JSON.stringify({ a: "\u202e\u009b\u001b[2J" })))).toEqual({ a: "\u202e\u009b\u001b[2J" });
  });

  it("has no control character but line breaks and tabs, whatever is said", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(terminalText(text)).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});
