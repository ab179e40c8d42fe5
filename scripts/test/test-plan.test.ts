import { describe, expect, it } from "vitest";
import { groupNames, testPlan } from "./test-plan.ts";

describe("testPlan", () => {
  it("runs every project once with little effort for npm test", () => {
    const { runs, rest } = testPlan("quick", ["retry"]);
    expect(runs.map(({ effort }) => effort)).toEqual(["quick"]);
    expect(runs[0]!.projects).toEqual(["unit", "architecture", "e2e", "patterns", "contract", "races", "kills", "simulation"]);
    expect(rest).toEqual(["retry"]);
  });

  it("runs every project for npm run test:all, and with more effort what npm test does little of", () => {
    const { runs } = testPlan("all", []);
    expect(runs.map(({ name }) => name)).toEqual(groupNames);
    expect(new Set(runs.flatMap(({ projects }) => projects))).toEqual(new Set(testPlan("quick", []).runs[0]!.projects));
    expect(runs.slice(1).every(({ effort }) => effort === "all")).toBe(true);
  });

  it("runs a group alone, with what is left for vitest", () => {
    expect(testPlan("all", ["kills", "zombies", "--bail=1"])).toEqual({
      runs: [{ name: "kills", effort: "all", projects: ["kills"] }],
      rest: ["zombies", "--bail=1"],
    });
  });

  it("finds the tests whose effort can be set, and those of processes that need a server", () => {
    const files = testPlan("all", ["properties", "servers"]).runs.map((run) => run.files?.join("\n"));
    expect(files[0]).toContain("lockstep.test.ts");
    expect(files[1]).toContain("scale-out.test.ts");
  });
});
