import { expect, test } from "vitest";
import { questionText } from "./question-text.ts";

test("a question is whole, however long it is", () => {
  const message = "Pay 4,000 EUR? ".repeat(100).trim();
  expect(questionText({ payload: { title: "Payment", message } })).toBe(`Payment: ${message}`);
  expect(questionText({ payload: "Ship it?\nToday?" })).toBe("Ship it?\nToday?");
  expect(questionText({ payload: { question: "Ship it?", amount: 7 } })).toBe("Ship it?");
});

test("signs that turn the direction of words are left out", () => {
  expect(questionText({ payload: "pay \u202eRUE 1\u202c now" })).toBe("pay RUE 1 now");
});

test.each([[{ amount: 7 }], [[1, 2]], [7], [null], [undefined], [{ title: 7 }]])("there is no question in %j", (payload) => {
  expect(questionText({ payload: payload as never })).toBe("");
});
