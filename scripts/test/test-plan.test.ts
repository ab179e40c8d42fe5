import { describe, expect, it } from "vitest";
import { testPlan } from "./test-plan.ts";

const groups = ["unit", "architecture", "patterns", "contract", "e2e", "mutants", "races", "kills", "simulation", "runtimes"];

describe("testPlan", () => {
  it("runs every group for npm test and for npm run test:all", () => {
    expect(testPlan("quick", ["retry"])).toEqual({ groups, rest: ["retry"] });
    // pages in a browser only where a browser may be installed
    expect(testPlan("all", [])).toEqual({ groups: groups.toSpliced(5, 0, "studio"), rest: [] });
  });

  it("runs groups alone, with what is left for vitest", () => {
    expect(testPlan("all", ["races", "kills", "zombies", "--bail=1"])).toEqual({
      groups: ["races", "kills"],
      rest: ["zombies", "--bail=1"],
    });
  });

  it("takes a group's name for a part of paths in npm test", () => {
    expect(testPlan("quick", ["kills"])).toEqual({ groups, rest: ["kills"] });
  });

  it("runs for npm run storm what is repeated more often", () => {
    expect(testPlan("storm", []).groups).toEqual(["unit", "contract", "mutants", "races", "kills", "simulation", "runtimes"]);
  });
});
