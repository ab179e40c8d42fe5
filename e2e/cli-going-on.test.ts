import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder, type Place } from "./cli.ts";

/** The step `charge` always succeeds; the step `ship` fails until the file `mended` exists. */
const config = `
import { existsSync, appendFileSync } from "node:fs";
export default { nodeDefinitions: {
  charge: { executor: () => { appendFileSync("done.txt", "charge\\n"); return { data: { charged: true } }; } },
  refund: { executor: () => { appendFileSync("done.txt", "refund\\n"); return { data: null }; } },
  ship: { executor: () => { if (!existsSync("mended")) throw new Error("no ship"); appendFileSync("done.txt", "ship\\n"); return { data: "shipped" }; } },
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
  const { readFileSync } = await import("node:fs");
  return { ...place, done: async () => readFileSync(join(cwd, "done.txt"), "utf8").trim().split("\n").join(" ") };
}

describe("stepfold restart", () => {
  it("goes on where an execution failed, once, however often it is said", async () => {
    const place = await failedOrder();
    const dry = await cli(["restart", "o-1", "--dry-run"], place);
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toContain('A new execution would go on from version 1 of "o-1", at: ship');
    writeFileSync(join(place.cwd!, "mended"), "");
    expect(await cli(["restart", "o-1"], place)).toMatchObject({ code: 0 });
    expect(await cli(["restart", "o-1"], place)).toMatchObject({ code: 0 });
    expect(await place.done()).toBe("charge ship");
    const [shown] = jsonLines((await cli(["show", "o-1~2", "--json"], place)).stdout);
    const told = (await cli(["show", "o-1~2"], place)).stdout;
    expect(told).toContain("goes on from version 1 of o-1 (restart)");
    expect(told).toMatch(/Taken over\n {2}✔ charge .*\{"charged":true\}/);
    expect(JSON.stringify(shown)).toContain('"from":{"workflowId":"o-1"');
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
    expect((await cli(["restart", "o-1~2"], place)).stderr).toContain("it has completed");
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
