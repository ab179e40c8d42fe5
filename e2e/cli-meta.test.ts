import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder } from "./cli.ts";

const workflow = { id: "w", nodes: [{ id: "ask", type: "approval" }], edges: [] };

describe("stepfold meta", () => {
  it("sets metadata, by which ls finds the execution, and drives nothing", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "w.json"), JSON.stringify(workflow));
    await cli(["run", "w.json", "--id", "a"], { cwd });
    const set = await cli(["meta", "a", "stage=late", "count=3", "--json"], { cwd });
    expect([set.code, jsonLines(set.stdout)]).toEqual([
      0,
      [{ type: "metadata", workflowId: "a", applied: true, metadata: { stage: "late", count: 3 } }],
    ]);
    const again = await cli(["meta", "a", "stage=later", "count=null", "--idempotency-key", "k"], { cwd });
    expect([again.code, again.stdout]).toEqual([0, 'Set: {"stage":"later"}\n']);
    expect((await cli(["meta", "a", "stage=later", "count=null", "--idempotency-key", "k"], { cwd })).stdout).toContain("set before");
    expect((await cli(["ls", "--meta", "stage=later"], { cwd })).stdout).toContain("a ");
    expect((await cli(["ls", "--meta", "stage=late"], { cwd })).stdout).toContain("No such executions");
    expect((await cli(["show", "a", "--events"], { cwd })).stdout).toContain("metadata");
  });

  it("is refused for what is no pair, for nobody, and for what has ended", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "w.json"), JSON.stringify(workflow));
    await cli(["run", "w.json", "--id", "a"], { cwd });
    expect((await cli(["meta", "a", "stage"], { cwd })).stderr).toContain("must be key=value");
    expect((await cli(["meta", "nobody", "a=1"], { cwd })).stderr).toContain("No execution");
    await cli(["cancel", "a"], { cwd });
    expect((await cli(["meta", "a", "a=1", "--json"], { cwd })).stdout).toContain("EXECUTION_ENDED");
  });
});
