import { describe, expect, it } from "vitest";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { ContractViolation, equal, holds, present, rejectsWith } from "./expectations.ts";

describe("equal", () => {
  it("takes values that are the same JSON, in any order of keys", () => {
    equal({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 });
    equal(undefined, undefined);
  });

  it.each([
    [1, "1", 'value is 1, expected "1"'],
    [{ a: 1 }, { a: 1, b: 2 }, "value/b is missing, expected 2"],
    [{ a: 1, b: 2 }, { a: 1 }, "value/b is 2, expected to be absent"],
    [{ a: undefined }, {}, "value/a is undefined, expected to be absent"],
    [[1, 2], [1], "value/1 is 2, expected to be absent"],
    [[], {}, "value is [], expected {}"],
    [{ a: { b: ["x"] } }, { a: { b: ["y"] } }, 'value/a/b/0 is "x", expected "y"'],
    [-0, 0, "value is 0, expected 0"],
    [null, {}, "value is null, expected {}"],
  ])("says where %j and %j differ", (actual, expected, message) => {
    expect(() => equal(actual, expected)).toThrow(new ContractViolation(message));
  });

  it("cuts long values", () => {
    expect(() => equal("x".repeat(1000), "")).toThrow(/^value is "x{198}…, expected ""$/);
  });
});

describe("rejectsWith", () => {
  const missing = new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: "a" });

  it("gives the details of the error", async () => {
    expect(await rejectsWith("WORKFLOW_NOT_FOUND", () => Promise.reject(missing))).toEqual({ workflowId: "a" });
  });

  it("fails on anything else", async () => {
    const violation = expect.any(ContractViolation);
    await expect(rejectsWith("WORKFLOW_NOT_FOUND", async () => 1)).rejects.toEqual(violation);
    await expect(rejectsWith("FENCE_LOST", () => Promise.reject(missing))).rejects.toThrow("WORKFLOW_NOT_FOUND");
    await expect(rejectsWith("FENCE_LOST", () => Promise.reject(new TypeError("oops")))).rejects.toThrow("oops");
  });
});

describe("holds and present", () => {
  it("fail on false and on nothing", () => {
    holds(true, "fine");
    expect(present(0, "number")).toBe(0);
    expect(() => holds(false, "broken")).toThrow(new ContractViolation("broken"));
    expect(() => present(null, "thing")).toThrow(new ContractViolation("thing is null"));
  });
});
