import { describe, expect, it } from "vitest";
import { samplePayload } from "./sample-payload.ts";

describe("samplePayload", () => {
  it("gives what is required, and nothing else", () => {
    const schema = {
      type: "object",
      properties: {
        approved: { type: "boolean" },
        comment: { type: "string" },
        level: { enum: ["low", "high"] },
        amount: { type: "number", minimum: 5 },
        names: { type: "array", minItems: 2, items: { type: "string" } },
        address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        mode: { const: "fast" },
        size: { type: ["integer", "null"] },
      },
      required: ["approved", "level", "amount", "names", "address", "mode", "size", "undeclared"],
    };
    expect(samplePayload(schema)).toEqual({
      approved: true,
      level: "low",
      amount: 5,
      names: ["…", "…"],
      address: { city: "…" },
      mode: "fast",
      size: 1,
      undeclared: null,
    });
  });

  it("survives schemas that nobody should write", () => {
    const endless: Record<string, unknown> = { type: "object", required: ["again", "__proto__"] };
    endless.properties = { again: endless };
    expect(JSON.stringify(samplePayload(endless)).length).toBeLessThan(200);
    for (const schema of [true, null, 5, {}, { type: "odd" }, { anyOf: [] }, { required: "x", type: "object" }])
      expect(() => samplePayload(schema)).not.toThrow();
    expect(samplePayload({ anyOf: [{ type: "string" }] })).toBe("…");
  });
});
