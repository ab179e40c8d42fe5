import { describe, expect, it } from "vitest";
import { referencePages } from "./pages.ts";
import { docAbove, membersOf } from "./source-docs.ts";

describe("reference pages", () => {
  it("tell every built-in node type, limit and error code, and no placeholder of a message is left empty", () => {
    const pages = referencePages();
    expect([...pages.keys()]).toHaveLength(6);
    for (const text of pages.values()) expect(text).not.toMatch(/\bundefined of\b|\[object |<>|=> text/);
    expect(pages.get("node-types.md")).toContain("## `approval`");
    expect(pages.get("node-types.md")).toContain(
      "| `timeout` | text or number | `defaultTimeoutMs` of `httpNode`, 30 seconds | The time limit",
    );
    expect(pages.get("node-types.md")).toContain("| `url` | text | required | The address");
    expect(pages.get("limits.md")).toContain("| `definitionBytes` | 2,097,152 |");
    expect(pages.get("error-codes.md")).toContain("| `OUTCOME_UNKNOWN` | 503 | yes |");
    expect(pages.get("command-line.md")).toContain("## `stepfold resume`");
    expect(pages.get("configuration.md")).toContain("| `globals` |");
    expect(pages.get("configuration.md")).toContain("| `limits` |");
    expect(pages.get("expressions.md")).toContain("| `date.add(input.orderedAt, '14 days')` | `\"2026-02-14T09:00:00.000Z\"` |");
    expect(pages.get("expressions.md")).toContain("| `input.price * input.quantity` | `148.5` |");
  });

  it("come from the comments where a thing is defined", () => {
    const source =
      "/**\n * Does it.\n *\n * @throws never\n */\nexport const a = 1;\n\ninterface I {\n  /** One\n   * thing. */\n  readonly b?: 1;\n}\n";
    expect(docAbove(source, "export const a")).toBe("Does it.");
    expect(membersOf(source, "I")).toEqual([{ name: "b", about: "One thing." }]);
    expect(() => docAbove(source, "interface I")).toThrow("has no doc comment");
    expect(() => membersOf("interface I {\n  readonly c?: 1;\n}\n", "I")).toThrow("I.c has no doc comment");
  });
});
