import { describe, expect, it } from "vitest";
import { isId, isRestartOf, isWorkflowId, successorId } from "./id.ts";

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

describe("the id of a restart", () => {
  it("counts at the end of the id", () => {
    expect(successorId("order-7")).toBe("order-7~2");
    expect(successorId("order-7~2")).toBe("order-7~3");
    expect(successorId("order~x")).toBe("order~x~2");
  });

  it("tells of what it is a restart", () => {
    expect(isRestartOf("a~2", "a")).toBe(true);
    expect(isRestartOf("a~12", "a~3")).toBe(true);
    expect(isRestartOf("a", "a")).toBe(false);
    expect(isRestartOf("a~2", "a~2")).toBe(false);
    expect(isRestartOf("b~2", "a")).toBe(false);
    expect(isRestartOf("a", "a~2")).toBe(false);
  });
});
