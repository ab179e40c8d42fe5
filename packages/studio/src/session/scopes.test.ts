import { expect, test } from "vitest";
import { scopeReason } from "./scopes.ts";

test("what the caller may do has no reason against it", () => {
  expect(scopeReason({ id: "ada", scopes: ["read", "start"] }, "start")).toBeNull();
});

test("what the caller may not do names who, what and the missing scope", () => {
  expect(scopeReason({ id: "ada", scopes: ["read"] }, "start")).toBe('ada may not start executions: the scope "start" is missing.');
});
