import { describe, expect, it } from "vitest";
import { areTaskQueues, isId, isWorkflowId } from "./id.ts";

describe("areTaskQueues", () => {
  it.each([
    [["default"]],
    [["gpu", "mail_2", "a-b"]],
    [Array.from({ length: 100 }, (_, index) => `q${index}`)],
  ])("takes a list of names", (list) => expect(areTaskQueues(list)).toBe(true));

  it.each<unknown>([
    "gpu",
    [],
    ["a b"],
    [7],
    ["gpu", ""],
    Array.from({ length: 101 }, (_, index) => `q${index}`),
    null,
  ])("refuses %j", (list) => expect(areTaskQueues(list)).toBe(false));
});

describe("isId", () => {
  it.each(["a", "A_9-z", "toString", "hasOwnProperty", "x".repeat(128)])("takes %j", (id) => expect(isId(id)).toBe(true));

  it.each<unknown>([
    "",
    "x".repeat(129),
    "a b",
    "a.b",
    "a@1",
    "ä",
    "a\n",
    "__proto__",
    "constructor",
    "prototype",
    5,
    null,
    undefined,
    ["a"],
  ])("refuses %j", (id) => expect(isId(id)).toBe(false));
});

describe("isWorkflowId", () => {
  it.each(["a", "order 7", "bestellung/ä/7", "😀", "x".repeat(255), "a:b@c#d"])("takes %j", (id) => expect(isWorkflowId(id)).toBe(true));

  it.each<unknown>([
    "",
    " a",
    "a ",
    "a\u0000b",
    "a\nb",
    "a\u2028b",
    "\ud800",
    "a\ud800b",
    "x".repeat(256),
    "__proto__",
    "constructor",
    7,
    null,
    {},
  ])("refuses %j", (id) => expect(isWorkflowId(id)).toBe(false));
});
