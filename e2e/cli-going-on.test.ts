import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder, type Place } from "./cli.ts";

/** The step `charge` always succeeds; the step `ship` fails until the file `mended` exists. */
const config = `
import { existsSync, appendFileSync } from "node:fs";
export default { nodeDefinitions: {
  charge: { executor: () => { appendFileSync("done.txt", "charge\\n"); return { data: { charged: true } }; } },
  refund: { executor: () => { appendFileSync("done.txt", "refund\\n"); return { data: null }; } },
  ship: { executor: (_data, step) => { appendFileSync("keys.txt", step.idempotencyKey + "\\n"); if (!existsSync("mended")) throw new Error("no ship"); appendFileSync("done.txt", "ship\\n"); return { data: "shipped" }; } },
} };
`;
const order = (compensate?: object): string =>
  JSON.stringify({
    id: "order",
    nodes: [
      { id: "charge", type: "charge", ...(compensate && { compensate }) },
      { id: "ship", type: "ship" },
    ],
    edges: [{ source: "charge", target: "ship" }],
  });

async function failedOrder(compensate?: object): Promise<Place & { done(): Promise<string> }> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.mjs"), config);
  writeFileSync(join(cwd, "order.json"), order(compensate));
  const place = { cwd };
  const failed = await cli(["run", "order.json", "--id", "o-1", "--config", "stepfold.config.mjs"], place);
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("stepfold restart o-1 --config stepfold.config.mjs") });
  return { ...place, done: async () => readFileSync(join(cwd, "done.txt"), "utf8").trim().split("\n").join(" ") };
}

describe("stepfold restart", () => {
  it("goes on where an execution failed, and performs nothing twice, however often it is said", async () => {
    const place = await failedOrder();
    const dry = await cli(["restart", "o-1", "--dry-run"], place);
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toContain('It would go on from version 1 of "o-1", at: ship');
    writeFileSync(join(place.cwd!, "mended"), "");
    const restarted = await cli(["restart", "o-1"], place);
    expect(restarted).toMatchObject({ code: 0, stdout: expect.stringMatching(/⟳ restarted +goes on at ship\n✔ ship/) });
    const again = await cli(["restart", "o-1"], place);
    expect(again).toMatchObject({ code: 0, stderr: "It was restarted before, and has completed since: nothing is left to do\n" });
    expect(jsonLines((await cli(["restart", "o-1", "--json"], place)).stdout)).toMatchObject([
      { type: "restart", workflowId: "o-1", applied: false, reason: "completed" },
      { type: "result", status: "completed", restarts: 1 },
    ]);
    expect(await place.done()).toBe("charge ship");
    const told = (await cli(["show", "o-1"], place)).stdout;
    expect(told).toContain("\nRestarted once.\n");
    expect(told).toMatch(/Results\n {2}✔ charge .*\{"charged":true\}\n {2}✔ ship/);
    expect((await cli(["show", "o-1", "--events"], place)).stdout).toMatch(/3 .*⟳ restarted +goes on at ship/);
    expect((await cli(["ls"], place)).stdout).toMatch(/EXECUTION +STATUS +RUN .*\no-1 +completed +1, restarted once /);
    const [shown] = jsonLines((await cli(["show", "o-1", "--json"], place)).stdout);
    expect(shown).toMatchObject({ workflowId: "o-1", restarts: 1, explanation: { runs: "Restarted once." } });
  });

  it("prints the command that goes on, and what to add if the workflow itself is at fault", async () => {
    const place = await failedOrder();
    const printed = (await cli(["restart", "o-1"], place)).stdout;
    expect(printed).toContain("this command goes on where it failed:\n\n  npx stepfold restart o-1\n\n");
    expect(printed).toContain("If the cause is in the workflow itself, add --definition @FILE");
    const mended = {
      id: "order",
      nodes: [
        { id: "charge", type: "charge" },
        { id: "ship", type: "noop" },
      ],
      edges: [{ source: "charge", target: "ship" }],
    };
    writeFileSync(join(place.cwd, "mended.json"), JSON.stringify(mended));
    expect(await cli(["restart", "o-1", "--definition", "@mended.json"], place)).toMatchObject({ code: 0 });
    expect(await place.done()).toBe("charge");
  });

  it("counts a restart with a key once, also if the execution has failed again", async () => {
    const place = await failedOrder();
    const key = ["--idempotency-key", "by-ada"];
    expect(await cli(["restart", "o-1", ...key], place)).toMatchObject({ code: 1, stderr: "" });
    const again = await cli(["restart", "o-1", ...key], place);
    expect(again).toMatchObject({ code: 1, stderr: "This restart was made before; going on\n" });
    const [shown] = jsonLines((await cli(["show", "o-1", "--json"], place)).stdout);
    expect(shown).toMatchObject({ restarts: 1 });
  });

  it("tries the steps that failed with the keys they had, or with new ones if asked to", async () => {
    const place = await failedOrder();
    await cli(["restart", "o-1"], place);
    await cli(["restart", "o-1", "--new-keys"], place);
    const [first, same, other] = readFileSync(join(place.cwd, "keys.txt"), "utf8").trim().split("\n");
    expect([first, other === first]).toEqual([same, false]);
  });

  it("asks what is to become of steps that were undone", async () => {
    const place = await failedOrder({ type: "refund" });
    writeFileSync(join(place.cwd!, "mended"), "");
    const asked = await cli(["restart", "o-1"], place);
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain("--compensated again performs them once more");
    expect((await cli(["restart", "o-1", "--compensated", "maybe"], place)).stderr).toContain("must be again or keep");
    expect(await cli(["restart", "o-1", "--compensated", "again"], place)).toMatchObject({ code: 0 });
    expect(await place.done()).toBe("charge refund charge ship");
  });

  it("is refused for what is not there, or has completed", async () => {
    const place = await failedOrder();
    expect((await cli(["restart", "nobody"], place)).stderr).toContain('"nobody"');
    writeFileSync(join(place.cwd!, "mended"), "");
    await cli(["restart", "o-1"], place);
    await cli(["run", "order.json", "--id", "o-2"], place);
    expect((await cli(["restart", "o-2"], place)).stderr).toContain("it has completed");
  });
});

describe("an execution that goes on with continueAs", () => {
  const loop = {
    id: "loop",
    nodes: [
      { id: "more", type: "if", data: { condition: "{{ input < 3 }}" } },
      { id: "again", type: "end", data: { continueAs: { input: "{{ input + 1 }}" } } },
      { id: "ask", type: "approval" },
    ],
    edges: [
      { source: "more", target: "again", sourceHandle: "true" },
      { source: "more", target: "ask", sourceHandle: "false" },
    ],
  };

  it("is shown as one execution, with its run", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "loop.json"), JSON.stringify(loop));
    const told = await cli(["run", "loop.json", "--id", "l-1", "--input", "1"], { cwd });
    expect(told).toMatchObject({ code: 0, stderr: "" });
    expect(told.stdout).toMatch(/⟳ again +ends its run; run 2 begins: 2\n[\s\S]*⟳ again +ends its run; run 3 begins: 3\n/);
    const shown = (await cli(["show", "l-1"], { cwd })).stdout;
    expect(shown).toMatch(/\nRun 3 since \S+ \(.*\)\.\n/);
    expect(shown).toMatch(/Results\n {2}✔ more +\S+ ms +\S+\n/);
    expect(shown).not.toContain("again");
    expect((await cli(["show", "l-1", "--events"], { cwd })).stdout).toMatch(/⟳ again .*run 2 begins/);
    expect((await cli(["ls"], { cwd })).stdout).toMatch(/EXECUTION +STATUS +RUN .*\nl-1 +paused +3 /);
    expect(jsonLines((await cli(["show", "l-1", "--json"], { cwd })).stdout)).toMatchObject([{ run: 3 }]);
    expect(await cli(["resume", "l-1", "--payload", '{"approved":true}'], { cwd })).toMatchObject({ code: 0 });
  });
});

describe("stepfold fork", () => {
  it("goes on from a node, whose output may be given", async () => {
    const place = await failedOrder();
    writeFileSync(join(place.cwd!, "mended"), "");
    expect(await cli(["fork", "o-1", "--node", "ship", "--id", "o-fork"], place)).toMatchObject({ code: 0 });
    expect(await place.done()).toBe("charge ship");
    expect(await cli(["fork", "o-1", "--node", "ship", "--output", '"by hand"', "--id", "o-told"], place)).toMatchObject({ code: 0 });
    expect(await place.done()).toBe("charge ship");
    expect((await cli(["fork", "o-1", "--at", "x"], place)).stderr).toContain("--at must be a whole number");
    expect((await cli(["fork", "o-1", "--node", "nowhere"], place)).stderr).toContain("nowhere");
  });
});
