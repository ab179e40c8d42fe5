import { isWorkflowId } from "stepfold/core";
import { describe, expect, it } from "vitest";
import { newExecutionId } from "./new-execution-id.ts";

describe("newExecutionId", () => {
  it("is short, valid and another one each time", () => {
    const ids = Array.from({ length: 100 }, () => newExecutionId("order-flow"));
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^order-flow-[2-9b-z]{8}$/);
    expect(isWorkflowId(newExecutionId("x".repeat(128)))).toBe(true);
  });
});
