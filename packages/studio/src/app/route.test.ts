import { expect, test } from "vitest";
import { executionPath, routeOf } from "./route.ts";

test.each(["/", "/executions", "/executions/"])("%s is the list", (path) => {
  expect(routeOf(path)).toEqual({ page: "executions" });
});

test.each([
  "order-1001",
  "a/b",
  "..",
  "~x",
  "order-7~2",
  "<img src=x>",
  "ünï\n",
  "%2e%2e",
  "javascript:alert(1)",
])("the path of the execution %j leads back to it", (workflowId) => {
  const path = executionPath(workflowId);
  expect(path).toMatch(/^\/executions\/[A-Za-z0-9~._-]+$/);
  expect(routeOf(path)).toEqual({ page: "execution", workflowId });
});

test.each([
  "/executions/a/b",
  "/executions/a%2Fb",
  "/executions/~",
  "/v1/executions",
  "//executions",
  "/executionsx",
])("%s is no page", (path) => {
  expect(routeOf(path)).toEqual({ page: "unknown" });
});
