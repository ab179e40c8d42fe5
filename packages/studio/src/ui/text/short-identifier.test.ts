import { expect, test } from "vitest";
import { countText, nounText, sizeText } from "./number-text.ts";
import { shortHash, shortIdentifier } from "./short-identifier.ts";

test("a short id is shown whole, of a long one its first 4 and last 8 characters", () => {
  expect(shortIdentifier("order-1001")).toBe("order-1001");
  expect(shortIdentifier("0199b2f4-7c1a-7e3d-9a41-5f0c22d7f3b2")).toBe("0199…22d7f3b2");
});

test("no character is torn", () => {
  expect(shortIdentifier("🧾".repeat(30))).toBe(`${"🧾".repeat(4)}…${"🧾".repeat(8)}`);
});

test("of a hash four characters are shown", () => {
  expect(shortHash("9f2c0d7711")).toBe("#9f2c");
});

test("numbers have separators, nouns their plural", () => {
  expect([countText(10_412), nounText(1, "item"), nounText(0, "item"), nounText(2, "match", "matches")]).toEqual([
    "10,412",
    "1 item",
    "0 items",
    "2 matches",
  ]);
});

test("sizes", () => {
  expect([sizeText(812), sizeText(65_536), sizeText(1_300_000)]).toEqual(["812 B", "64 KiB", "1.2 MiB"]);
});
