import { describe, expect, it } from "vitest";
import { readDuration } from "./read-duration.ts";

const read = (text: string): number => readDuration("--before", text, "how long ago, such as 30d");

describe("B1: a duration on the command line", () => {
  it.each([
    ["30d", 30 * 86_400_000],
    ["0ms", 0],
    ["P30D", 30 * 86_400_000],
    ["1h30m", 5_400_000],
  ])("reads %s", (text, ms) => expect(read(text)).toBe(ms));

  it.each(["30", " 30 ", "0", "1.5"])("refuses %j, which may mean days as well as milliseconds", (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "USAGE", hint: expect.stringContaining(`--before ${text.trim()}d`) }));
  });

  it.each(["yesterday", "-3d", "", "30 parsecs"])("refuses %j", (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "USAGE", message: expect.stringContaining(`not "${text}"`) }));
  });
});
