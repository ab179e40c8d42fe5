import { describe, expect, it } from "vitest";
import { retryAfterOf } from "./retry-after.ts";

const now = Date.UTC(2026, 0, 31, 9);

describe("retryAfterOf", () => {
  it.each<[string | undefined, number | null]>([
    ["120", 120_000],
    [" 0 ", 0],
    ["Sat, 31 Jan 2026 09:01:00 GMT", 60_000],
    ["Sat, 31 Jan 2026 08:00:00 GMT", 0],
    ["999999999", 86_400_000],
    ["Fri, 31 Dec 2099 23:59:59 GMT", 86_400_000],
    [undefined, null],
    ["", null],
    ["soon", null],
    ["-1", null],
    ["1.5", null],
    ["1e3", null],
    ["2026-01-31", null],
    ["Sat, 99 Foo 2026 09:01:00 GMT", null],
  ])("reads %j as %s ms", (header, delayMs) => expect(retryAfterOf(header, now)).toBe(delayMs));
});
