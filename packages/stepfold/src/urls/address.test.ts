import { describe, expect, it } from "vitest";
import { parsedUrl, poolSize, takeParameters } from "./address.ts";

describe("takeParameters", () => {
  it("takes what is ours, the first of several, and leaves the rest as it was written", () => {
    const url = "mongodb://a%20b,c:1/d?x=%20+&prefix=p%5F&y=z&prefix=q";
    expect(takeParameters(url, { prefix: "", pool: "10" })).toEqual({
      url: "mongodb://a%20b,c:1/d?x=%20+&y=z",
      taken: { prefix: "p_", pool: "10" },
    });
  });

  it("leaves no question mark behind", () => {
    expect(takeParameters("a://b?prefix=c", { prefix: "" }).url).toBe("a://b");
    expect(takeParameters("a://b?", { prefix: "" }).url).toBe("a://b");
    expect(takeParameters("a://b?%pool=1&__proto__=2", { pool: "" })).toEqual({ url: "a://b?%pool=1&__proto__=2", taken: { pool: "" } });
  });
});

describe("what is wrong with a URL", () => {
  it.each(["abc", "0", "-1", "1.5", "", " 1", "10000", "1e3"])("a pool is no %j", (text) => {
    expect(() => poolSize(text)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it.each([
    "postgres://ada:s3cret@",
    "postgres://ada:s3/cret@db",
    "http://ada:s3cret@[",
    "redis://:s3cret%zz@db",
  ])("%s is told without its password", (url) => {
    expect(() => parsedUrl(url)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.not.stringMatching(/s3|cret/) }),
    );
  });
});
