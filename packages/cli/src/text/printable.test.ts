import { describe, expect, it } from "vitest";
import { printable, printableJson } from "./printable.ts";

describe("printable", () => {
  it("keeps a terminal safe from what others wrote", () => {
    expect(printable("a\u001b[31mred\u001b[0m\u0007b")).toBe("ared b");
    expect(printable("one\r\n  two\u2028three\u202e!")).toBe("one two three !");
    expect(printable("\u001b]0;title\u0007x\u009b31mé")).not.toMatch(/\p{Cc}/u);
  });

  it("cuts what is long", () => {
    expect(printable("x".repeat(300))).toHaveLength(200);
    expect(printable("👍".repeat(5), 3)).toBe("👍👍…");
    expect(printable("x".repeat(10_000_000), 5)).toBe("xxxx…");
    expect(printableJson({ a: "b" })).toBe('{"a":"b"}');
  });
});
