import { describe, expect, it } from "vitest";
import { readWorkflow } from "./read-workflow.ts";

const config = { workflows: [{ id: "order", nodes: [{ id: "a", type: "noop" }], edges: [] }] };

describe("USE small: a workflow named by its id in the config", () => {
  it("is found", () => expect(readWorkflow("order", config).valid).toBe(true));

  it("is looked for by those who misspell it: the ids that there are are told", () => {
    expect(() => readWorkflow("ordr", config)).toThrow(
      expect.objectContaining({
        code: "FILE_NOT_FOUND",
        message: expect.stringContaining("no workflow of that id"),
        hint: "It has: order",
      }),
    );
  });

  it("is none where a path was given, or the config has none", () => {
    expect(() => readWorkflow("ordr.json", config)).toThrow(expect.objectContaining({ message: "There is no file ordr.json" }));
    expect(() => readWorkflow("ordr", {})).toThrow(expect.objectContaining({ message: "There is no file ordr" }));
  });
});
