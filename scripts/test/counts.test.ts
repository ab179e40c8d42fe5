import { describe, expect, it } from "vitest";
import { countTests, describeCounts, type TestReport } from "./counts.ts";

const report: TestReport = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 1, numTodoTests: 1, testResults: [] };

describe("countTests", () => {
  it("counts what passed, failed and was skipped", () => {
    expect(countTests({ ...report, numFailedTests: 2 })).toEqual({ passed: 3, failed: 2, skipped: 2 });
  });

  it("counts a file that did not load as one failure", () => {
    expect(countTests({ ...report, testResults: [{ status: "failed", assertionResults: [] }] }).failed).toBe(1);
  });

  it("does not count a failed test twice", () => {
    const testResults = [{ status: "failed", assertionResults: [{ status: "failed" }] }];
    expect(countTests({ ...report, numFailedTests: 1, testResults }).failed).toBe(1);
  });
});

describe("describeCounts", () => {
  it("writes one plain line", () => expect(describeCounts({ passed: 3, failed: 0, skipped: 1 })).toBe("3 passed, 0 failed, 1 skipped"));
});
