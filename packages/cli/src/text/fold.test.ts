import { describe, expect, it } from "vitest";
import { foldText } from "./fold.ts";
import { tableLines } from "./table.ts";

const plain = (_: unknown, text: string): string => text;

describe("a text on a narrow terminal", () => {
  it("is folded between words, with the indent of its line", () => {
    const text = `error X: it cannot be resumed now\n  because ${"nobody has answered it yet"}\n`;
    expect(foldText(text, 24)).toBe("error X: it cannot be\nresumed now\n  because nobody has\n  answered it yet\n");
  });

  it("counts no colours", () => {
    const red = `\u001b[31m${"x".repeat(19)}\u001b[39m yes`;
    expect(foldText(red, 23)).toBe(red);
    expect(foldText(red, 22)).toBe(`\u001b[31m${"x".repeat(19)}\u001b[39m\nyes`);
  });

  it("leaves whole what is copied, and words that are too long", () => {
    const command = "More: npx stepfold ls --cursor abcdefghijklmnop --limit 20";
    const json = '{"type": "page", "items": [], "nextCursor": null}';
    for (const text of [command, json, "y".repeat(50)]) expect(foldText(text, 24)).toBe(text);
  });

  it("stays as it is where it does not go to a terminal", () => {
    expect(foldText("a b ".repeat(100), undefined)).toBe("a b ".repeat(100));
  });
});

describe("a table on a narrow terminal", () => {
  const head = ["EXECUTION", "STATUS", "WAITS FOR"];
  const rows = [
    [{ text: "order-1" }, { text: "paused" }, { text: "an answer of ada or bob at review" }],
    [{ text: "order-2" }, { text: "completed" }, { text: "" }],
  ];

  it("folds its widest column between words", () => {
    expect(tableLines(head, rows, plain, 40)).toEqual([
      "EXECUTION  STATUS     WAITS FOR",
      "order-1    paused     an answer of ada",
      "                      or bob at review",
      "order-2    completed",
    ]);
  });

  it("stays as it is where there is room", () => {
    expect(tableLines(head, rows, plain)).toEqual(tableLines(head, rows, plain, 80));
    expect(tableLines(head, rows, plain, 80)).toHaveLength(3);
  });

  it("does not cut ids to fit", () => {
    const long = "x".repeat(60);
    const [, line] = tableLines(head, [[{ text: long }, { text: "paused" }, { text: "a b" }]], plain, 40);
    expect(line).toContain(long);
  });
});
