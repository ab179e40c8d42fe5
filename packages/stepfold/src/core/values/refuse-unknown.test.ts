import { expect, it } from "vitest";
import { refuseUnknown } from "./refuse-unknown.ts";

it("refuses an option that is none, and says which was probably meant", () => {
  const known = ["workflow", "limits"];
  expect(refuseUnknown("new WorkflowEngine", { workflow: 1 }, known)).toBeUndefined();
  expect(() => refuseUnknown("new WorkflowEngine", { wrokflow: 1 }, known)).toThrow(
    expect.objectContaining({ code: "OPTION_UNKNOWN", message: expect.stringContaining('Did you mean "workflow"?') }),
  );
  expect(() => refuseUnknown("new WorkflowEngine", { validator: 1 }, known)).toThrow(
    expect.objectContaining({ code: "OPTION_UNKNOWN", message: expect.stringContaining("There are: workflow, limits") }),
  );
});
