import { describe, expect, it } from "vitest";
import { momentsText } from "./moments-text.ts";

describe("momentsText", () => {
  it("adds to every time how far it is", () => {
    const now = Date.parse("2026-01-31T09:00:00.000Z");
    expect(momentsText("waits until 2026-01-31T12:30:00.000Z, or since 2026-01-31T08:59:50.500Z.", now)).toBe(
      "waits until 2026-01-31T12:30:00Z (in 3 h 30 min), or since 2026-01-31T08:59:50Z (9 s ago).",
    );
    expect(momentsText("a\u001b[31mb", now)).toBe("ab");
  });
});
