import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { idInPath, idOfPath } from "../../src/client/index.ts";

describe("an id in a path", () => {
  it.each([
    ["order-1001", "order-1001"],
    ["order-7~2", "order-7~2"],
    ["a.b_c~d-e", "a.b_c~d-e"],
    ["0192e4a0-7c1b-7def-8123-456789abcdef", "0192e4a0-7c1b-7def-8123-456789abcdef"],
    ["a/b", "~YS9i"],
    ["~YS9i", "~fllTOWk"],
    [".", "~Lg"],
    ["..", "~Li4"],
    ["-a", "~LWE"],
    ["%2e", "~JTJl"],
    ["", "~"],
    ["bücher", "~YsO8Y2hlcg"],
    ["a\n", "~YQo"],
    ["\uFEFFa", "~77u_YQ"],
    ['"acme"/p', "~ImFjbWUiL3A"],
  ])("%j is %j, and back", (id, segment) => {
    expect(idInPath(id)).toBe(segment);
    expect(idOfPath(segment)).toBe(id);
  });

  it("stands for itself again, and no URL changes it", () => {
    const property = fc.property(fc.string({ unit: "binary" }), (id) => {
      const segment = idInPath(id);
      expect(segment).toMatch(/^[A-Za-z0-9~][A-Za-z0-9._~-]*$/);
      expect(idOfPath(segment)).toBe(id);
      expect(new URL(`http://h/v1/executions/${segment}/events`).pathname).toBe(`/v1/executions/${segment}/events`);
    });
    fc.assert(property, { numRuns: tries(2_000) });
  });

  it("has one path only: of what any text stands for, that text is the path", () => {
    const segments = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."~aZ09._-=+/%Y\n") }),
      fc.string({ unit: fc.constantFrom(..."abcYZ019-_") }).map((text) => `~${text}`),
      fc.uint8Array().map((bytes) => `~${Buffer.from(bytes).toString("base64url")}`),
    );
    const property = fc.property(segments, (segment) => {
      const id = idOfPath(segment);
      if (id !== null) expect(idInPath(id)).toBe(segment);
    });
    fc.assert(property, { numRuns: tries(5_000) });
  });

  it.each([
    ["a/b"],
    ["a%2Fb"],
    ["~YS9i="],
    ["~YS+i"],
    ["~YS9j\n"],
    ["~b3JkZXItMTAwMQ"],
    ["~gA"],
    ["~!"],
    ["."],
    ["-a"],
    [""],
    ["~YR"],
  ])("%j stands for none", (segment) => {
    expect(idOfPath(segment)).toBeNull();
  });

  it("is found quickly, however long the text is", () => {
    const long = "ü".repeat(500_000);
    expect(idOfPath(idInPath(long))).toBe(long);
  });
});
