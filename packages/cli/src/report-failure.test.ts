import { StepfoldError } from "stepfold";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { exitCode } from "./exit-code.ts";
import { reportFailure } from "./report-failure.ts";

let printed = "";

beforeEach(() => {
  printed = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

it("puts an id into the command of a hint as it is, also with characters that mean something in a replacement", () => {
  const id = "a$'b$&c";
  const error = new StepfoldError("EXECUTION_ENDED", { workflowId: id, status: "completed" });
  expect(reportFailure(error, false)).toBe(exitCode.badInput);
  expect(printed).toContain(`stepfold show 'a$'\\''b$&c' tells how it ended`);
});

it("lets no control character through, in a message or in the stack that STEPFOLD_DEBUG shows", () => {
  vi.stubEnv("STEPFOLD_DEBUG", "1");
  expect(reportFailure(new TypeError("clear \u001b[2J the screen"), false)).toBe(exitCode.failed);
  expect(printed).toContain("clear \uFFFD[2J the screen");
  expect(printed).toContain("report-failure.test.ts");
  expect(printed).not.toContain("\u001b[2J");
});
