import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fromBase64, toBase64 } from "./base64.ts";

afterEach(() => vi.unstubAllGlobals());

describe.each([{ platform: "Node.js" }, { platform: "a platform without Buffer" }])("base64 on $platform", ({ platform }) => {
  const prepare = (): void => {
    if (platform !== "Node.js") vi.stubGlobal("Buffer", undefined);
  };

  it("comes back for any bytes, also for a part of a larger buffer, and with line breaks", () => {
    prepare();
    expect(toBase64(new Uint8Array([0, 250, 255, 62]))).toBe("APr/Pg==");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(10), (whole, from) => {
        const bytes = whole.subarray(from);
        const text = toBase64(bytes);
        expect(fromBase64(text)).toEqual(new Uint8Array(bytes));
        expect(fromBase64(text.replace(/(.{4})(?=.)/g, "$1\n"))).toEqual(new Uint8Array(bytes));
      }),
    );
    const large = new Uint8Array(100_000).fill(7);
    expect(fromBase64(toBase64(large))).toEqual(large);
  });

  it("is refused where it is none", () => {
    prepare();
    for (const text of ["a", "a*bc", "====", "é", "ab-_"]) expect(() => fromBase64(text), text).toThrow();
  });
});
