import { describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { engineOf } from "../engine.fixture.ts";

const inner: WorkflowDefinition = { id: "inner", nodes: [{ id: "n", type: "leaf-type" }], edges: [] };

/** Executes a step whose code asks for these children. */
const asked = (request: unknown): Promise<Snapshot> => {
  const code = { asks: () => ({ __children: request }), leaf: () => ({ data: "done" }) };
  const { engine } = engineOf(code, [], { rest: { workflows: { inner } } });
  return engine.execute({ initialNodeId: "asks" });
};

describe("children that a step asks for", () => {
  it("are made as it asks", async () => {
    expect(await asked({ workflow: "inner" })).toMatchObject({ status: "completed", output: "done" });
    const all = { items: [1, 2], concurrency: 1, open: false, completeWhen: 2, remaining: "finish", toleratedFailures: "100.000%" };
    expect(await asked({ workflow: "inner", map: all })).toMatchObject({ status: "completed", output: ["done", "done"] });
  });

  it("take what is undefined as not given", async () => {
    const none = { open: undefined, concurrency: undefined, completeWhen: undefined, remaining: undefined, toleratedFailures: undefined };
    expect(await asked({ workflow: "inner", input: undefined, map: { items: [1], ...none } })).toMatchObject({ output: ["done"] });
    expect(await asked({ workflow: "inner", input: 1, map: undefined })).toMatchObject({ output: "done" });
  });

  it.each<[string, object, string]>([
    ["workflow", { workflow: Object.create(null) }, "name of a workflow"],
    ["workflow", { workflow: Object.create(null), detached: true }, "name of a workflow"],
    ["workflow", {}, "name of a workflow"],
    ["input", { workflow: "inner", input: 1, map: { items: [1] } }, "combined with map"],
    ["items", { workflow: "inner", map: null }, "a list"],
    ["items", { workflow: "inner", map: { items: "ab" } }, "a list"],
    ["open", { workflow: "inner", map: { items: [], open: "yes" } }, "true or false"],
    ["open", { workflow: "inner", map: { items: [], open: null } }, "true or false"],
    ["concurrency", { workflow: "inner", map: { items: [], concurrency: 0 } }, "of at least 1"],
    ["concurrency", { workflow: "inner", map: { items: [], concurrency: null } }, "of at least 1"],
    ["completeWhen", { workflow: "inner", map: { items: [], completeWhen: "done > 1" } }, "a whole number of at least 0"],
    ["completeWhen", { workflow: "inner", map: { items: [], completeWhen: null } }, "a whole number of at least 0"],
    ["remaining", { workflow: "inner", map: { items: [], remaining: "keep" } }, '"finish" or "cancel"'],
    ["remaining", { workflow: "inner", map: { items: [], remaining: null } }, '"finish" or "cancel"'],
    ["toleratedFailures", { workflow: "inner", map: { items: [], toleratedFailures: "100.1%" } }, "a share"],
    ["toleratedFailures", { workflow: "inner", map: { items: [], toleratedFailures: null } }, "a share"],
  ])("are refused if %s is wrong: %o", async (option, request, reason) => {
    expect(await asked(request)).toMatchObject({
      status: "failed",
      error: { code: "OPTION_INVALID", message: expect.stringMatching(new RegExp(`"?${option}"?.*${reason}`)) },
    });
  });

  it("are refused if the workflow that is named is not there", async () => {
    expect(await asked({ workflow: "other" })).toMatchObject({ status: "failed", error: { code: "DEFINITION_UNKNOWN" } });
  });
});
