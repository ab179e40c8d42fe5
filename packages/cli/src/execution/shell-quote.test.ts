import { describe, expect, it } from "vitest";
import { shellQuote } from "./shell-quote.ts";

describe("shellQuote", () => {
  it("leaves plain words alone", () => {
    for (const word of ["order-1001", "a/b.json", "0@5", "--store", "x=1", "50%"]) expect(shellQuote(word, "linux")).toBe(word);
  });

  it("quotes the rest for a POSIX shell", () => {
    expect(shellQuote('{"a":1}', "linux")).toBe(`'{"a":1}'`);
    expect(shellQuote("it's", "linux")).toBe(`'it'\\''s'`);
    expect(shellQuote("$(rm) `x`", "linux")).toBe("'$(rm) `x`'");
    expect(shellQuote("", "linux")).toBe("''");
  });

  it("quotes the rest for Windows", () => {
    expect(shellQuote('{"a":1}', "win32")).toBe('"{\\"a\\":1}"');
    expect(shellQuote("a b\\", "win32")).toBe('"a b\\\\"');
  });
});
