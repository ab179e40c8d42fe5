import { describe, expect, it } from "vitest";
import { cutBytes, jsonText, openedTree, toggled, treeRows, withMore } from "./json-tree.ts";

const told = (value: unknown, view = openedTree(value, 2)): string[] =>
  treeRows(value, view).map(({ kind, name, text, path }) => `${"  ".repeat(path.length)}${name ?? "·"} ${kind} ${text}`);

describe("treeRows", () => {
  it("shows what is open, and nothing of what is closed", () => {
    const value = { a: 1, b: { c: [true, null] }, d: "x" };
    expect(told(value)).toEqual(["· branch {3}", "  a leaf 1", "  b branch {1}", "    c branch [2]", '  d leaf "x"']);
    const open = toggled(openedTree(value, 1), "/b");
    expect(told(value, open)).toContain("    c branch [2]");
    expect(told(value, toggled(open, "/b"))).not.toContain("    c branch [2]");
    expect(told(value, { open: new Map() })).toEqual(["· branch {3}"]);
    expect(told([])).toEqual(["· leaf [0]"]);
  });

  it("shows 100 members at first, and 100 more with each step", () => {
    const value = Array.from({ length: 350 }, (_, index) => index);
    const first = openedTree(value, 1);
    expect(told(value, first)).toHaveLength(102);
    expect(told(value, first).at(-1)).toBe("· more 250");
    const third = withMore(withMore(first, ""), "");
    expect(told(value, third).at(-1)).toBe("· more 50");
    expect(told(value, withMore(third, "")).at(-1)).toBe("  349 leaf 349");
  });

  it("says how large a value is that may not be seen, and keeps what only looks like one", () => {
    expect(told({ secret: { "~cut": 1_200 }, answer: { approved: true, "~cut": 40 } })).toEqual([
      "· branch {2}",
      "  secret cut 1200",
      "  answer cut 40",
    ]);
    expect(cutBytes({ "~cut": 3, more: "text" })).toBeNull();
    expect(cutBytes({ "~cut": "3" })).toBeNull();
    expect(cutBytes(null)).toBeNull();
  });

  it("cuts long texts, and tells rows with odd names apart", () => {
    const [, row] = treeRows({ long: "x".repeat(100_000) }, openedTree({ long: "" }, 1));
    expect(row!.text.length).toBeLessThan(66_000);
    expect(row!.text.endsWith('…"')).toBe(true);
    const odd = { "a/b": 1, a: { b: 2 }, "~": 3, constructor: 4 };
    const keys = treeRows(odd, openedTree(odd, 3)).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("does not go deeper than what is open, however deep a value is", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level++) deep = { deep };
    expect(told(deep, openedTree(deep, 3))).toHaveLength(4);
  });
});

describe("jsonText", () => {
  it("gives at most 64 KiB, and says how much is left", () => {
    expect(jsonText({ a: 1 })).toEqual({ text: '{\n  "a": 1\n}', left: 0 });
    const { text, left } = jsonText("y".repeat(70_000));
    expect([text.length, left]).toEqual([65_536, 70_002 - 65_536]);
    expect(jsonText(undefined).text).toBe("undefined");
  });
});
