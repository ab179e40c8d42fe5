import { describe, expect, it } from "vitest";
import { newFolder, root, start } from "./cli.ts";

/** Runs a script as a module that imports the built library. */
async function script(text: string) {
  const url = `${root}packages/stepfold/dist`;
  const code = text.replaceAll("LIBRARY", url);
  return start(process.execPath, ["--input-type=module", "-e", code], { cwd: newFolder() }).ended;
}

const never = "const nodeDefinitions = { hang: { executor: () => new Promise(() => {}) } };";
const flow = 'const workflow = { id: "w", nodes: [{ id: "a", type: "hang", timeout: "200ms" }], edges: [] };';

describe("a process in which nothing is left but the timeout of a step", () => {
  it("waits for it, and ends when it is over, not when the longest timeout is", async () => {
    const { code, stdout } = await script(`
      import { WorkflowEngine } from "LIBRARY/index.js";
      ${never} ${flow}
      const engine = new WorkflowEngine({ workflow, nodeDefinitions });
      const { status, error } = await engine.execute({});
      console.log(status, error.code);
    `);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "failed STEP_TIMEOUT\n" });
  });

  it("is not kept alive by timeouts of steps that have ended", async () => {
    const began = performance.now();
    const { code, stdout } = await script(`
      import { WorkflowEngine } from "LIBRARY/index.js";
      const nodeDefinitions = { soon: { executor: async () => ({ data: 1 }) } };
      const workflow = { id: "w", nodes: [{ id: "a", type: "soon", timeout: "10 min" }], edges: [] };
      console.log((await new WorkflowEngine({ workflow, nodeDefinitions }).execute({})).status);
    `);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "completed\n" });
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it("waits for it in a guest, too", async () => {
    const { code, stdout } = await script(`
      import { createGuest } from "LIBRARY/guest/index.js";
      ${never} ${flow}
      const guest = createGuest({ workflows: [workflow], nodeDefinitions });
      const host = { perform: (steps) => Promise.all(steps.map((step) => guest.perform(step))), wait: async () => null };
      const { status, error } = await guest.run(host, { workflow: "w", workflowId: "g" });
      console.log(status, error.code);
    `);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "failed STEP_TIMEOUT\n" });
  });
});
