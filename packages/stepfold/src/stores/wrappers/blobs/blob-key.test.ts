import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { segmentsOf } from "../../kit/blobs/blob-key.ts";
import { segmentOf, textOfSegment } from "./blob-key.ts";

describe("a segment of a key", () => {
  it("is safe for every id, and another one for every other id", async () => {
    const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 255 }), fc.string({ unit: "grapheme", maxLength: 255 }));
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (one, other) => {
        const [first, second] = await Promise.all([segmentOf(one), segmentOf(other)]);
        expect(segmentsOf(`executions/${first}/incarnation/${"0".repeat(64)}`)).toHaveLength(4);
        expect(first === second).toBe(one === other);
        expect([one, null]).toContain(textOfSegment(first));
      }),
    );
  });

  it("can be read where it can be", async () => {
    expect(await segmentOf("order-1")).toBe("order-1");
    expect(await segmentOf("../a.b~c")).toBe("%2E%2E%2Fa%2Eb%7Ec");
    expect(textOfSegment("%2E%2E%2Fa%2Eb%7Ec")).toBe("../a.b~c");
    expect(await segmentOf("\ud800")).not.toBe(await segmentOf("\ud801"));
    expect(await segmentOf("")).toMatch(/^~/);
  });
});
