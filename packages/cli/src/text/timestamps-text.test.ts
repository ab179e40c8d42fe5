import { describe, expect, it } from "vitest";
import { timestampsText } from "./timestamps-text.ts";

describe("timestampsText", () => {
  it("adds to every time how far it is", () => {
    const now = Date.parse("2026-01-31T09:00:00.000Z");
    expect(timestampsText("waits until 2026-01-31T12:30:00.000Z, or since 2026-01-31T08:59:50.500Z.", now)).toBe(
      "waits until 2026-01-31T12:30:00Z (in 3 h 30 min), or since 2026-01-31T08:59:50Z (9 s ago).",
    );
    expect(timestampsText("a\u001b[31mb", now)).toBe("ab");
  });
});
