import fc from "fast-check";
import { expect, it } from "vitest";
import type { Notice } from "../../ports/event-feed.ts";
import { noticesIn, noticeTexts } from "./notice-text.ts";

const notice = fc.record(
  {
    kind: fc.constantFrom<Notice["kind"][]>("due", "waiting", "ended", "test"),
    workflowId: fc.string({ minLength: 1, maxLength: 255, unit: "grapheme" }).filter((id) => id.length <= 255),
    version: fc.nat(),
    run: fc.integer({ min: 2 }),
    restarts: fc.integer({ min: 1 }),
  },
  { requiredKeys: ["kind", "workflowId", "version"] },
);

it("gives every notice back, in texts that fit into one message of PostgreSQL", () => {
  fc.assert(
    fc.property(fc.array(notice, { maxLength: 60 }), (notices) => {
      const texts = noticeTexts(notices);
      for (const text of texts) expect(new TextEncoder().encode(text).length).toBeLessThan(8_000);
      expect(texts.flatMap(noticesIn)).toEqual(notices);
    }),
  );
});

it("never throws, and never gives more than a notice may be", () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.json(), fc.string()), (heard) => {
      for (const { kind, workflowId, version } of noticesIn(heard)) {
        expect([typeof kind, workflowId.length <= 255, Number.isSafeInteger(version)]).toEqual(["string", true, true]);
      }
    }),
  );
});

it("takes no text that is too long, and of too many notices the first", () => {
  expect(noticesIn(`[["due","a",1]${" ".repeat(70_000)}]`)).toEqual([]);
  expect(noticesIn(JSON.stringify(Array(3_000).fill(["due", "a", 1])))).toHaveLength(2_000);
});
