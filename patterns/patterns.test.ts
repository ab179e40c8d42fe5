import type { Snapshot } from "stepfold";
import { describe, expect, it } from "vitest";
import { crashRun } from "./crash-runs.ts";
import { exploreRuns } from "./explore-runs.ts";
import { readFixtures } from "./fixture.ts";
import { accepts } from "./petri-net.ts";

const asItIs = (snapshot: Snapshot): Snapshot => snapshot;
const throughJson = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot)) as Snapshot;

describe.each(readFixtures())("$file", ({ fixture }) => {
  it.each([
    ["in every order of what happens at the same time", asItIs],
    ["with the snapshot through JSON after every transition", throughJson],
  ])("does what its net allows, %s", async (_, roundTrip) => {
    const { forbidden, witnessed, runs } = await exploreRuns(fixture, roundTrip);
    expect(forbidden?.join(" ") ?? null).toBeNull();
    expect(runs).toBeGreaterThan(0);
    expect([...witnessed].sort()).toEqual([...(fixture.witnesses ?? [])].sort());
  });

  it("does so on SQLite, straight through", async () => {
    const { trace } = await crashRun(fixture, null);
    expect(accepts(fixture.net, trace) || trace.join(" ")).toBe(true);
  });

  it.each(["before", "after"] as const)("does so on SQLite, with a crash %s any commit", async (when) => {
    let commit = 1;
    for (; ; commit++) {
      const { trace, crashed } = await crashRun(fixture, { commit, when });
      expect(accepts(fixture.net, trace) || `commit ${commit}: ${trace.join(" ")}`).toBe(true);
      if (!crashed) break;
    }
    expect(commit).toBeGreaterThan(1);
  });
});
