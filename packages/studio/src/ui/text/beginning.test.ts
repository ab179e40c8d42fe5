import { expect, test } from "vitest";
import { beginningOf } from "./beginning.ts";

test("it ends with a whole word", () => {
  expect(beginningOf(`${"a".repeat(310)} some more words`)).toBe(`${"a".repeat(310)} some…`);
});

test("only a long text has a beginning that is shown at first", () => {
  expect(beginningOf("a".repeat(320))).toBeNull();
  expect(beginningOf("a".repeat(321))).toBe(`${"a".repeat(320)}…`);
  expect(beginningOf("1\n2\n3\n4\n5\n6")).toBeNull();
  expect(beginningOf("1\n2\n3\n4\n5\n6\n7")).toBe("1\n2\n3\n4\n5\n6…");
  expect(beginningOf(`${"a".repeat(319)}😀b`)).toBe(`${"a".repeat(319)}…`);
});
