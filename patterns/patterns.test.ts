import type { Snapshot } from "stepfold";
import { describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { crashRun } from "./crash-runs.ts";
import { exploreRuns } from "./explore-runs.ts";
import { readFixtures } from "./fixture.ts";
import { type Findings, patternTable } from "./pattern-table.ts";
import { accepts } from "./petri-net.ts";

const asItIs = (snapshot: Snapshot): Snapshot => snapshot;
const throughJson = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot)) as Snapshot;
const fixtures = readFixtures();
/** The findings for the table in the docs. A failed test leaves its cell empty. */
const findings: Findings = new Map(fixtures.map(({ file }) => [file, {}]));

describe.each(fixtures)("$file", ({ file, fixture }) => {
  const found = findings.get(file)!;

  const judge = async (kind: "situations" | "situationsThroughJson", roundTrip: (snapshot: Snapshot) => Snapshot): Promise<void> => {
    const { forbidden, witnessed, runs, states, whole } = await exploreRuns(fixture, roundTrip, effort.patternStates);
    expect(forbidden?.join(" ") ?? null).toBeNull();
    expect(runs).toBeGreaterThan(0);
    if (whole) expect([...witnessed].sort()).toEqual([...(fixture.witnesses ?? [])].sort());
    found[kind] = states;
  };

  it("does what its net allows, in every order of what happens at the same time", () => judge("situations", asItIs));

  it.runIf(effort.patternsThroughJson)("does what its net allows, with the snapshot through JSON after every transition", () =>
    judge("situationsThroughJson", throughJson),
  );

  it("does so on SQLite, straight through", async () => {
    const { trace } = await crashRun(fixture, null);
    expect(accepts(fixture.net, trace) || trace.join(" ")).toBe(true);
    found.straight = true;
  });

  it.each([
    ["before", "crashesBefore"],
    ["after", "crashesAfter"],
  ] as const)("does so on SQLite, with a crash %s any commit", async (when, kind) => {
    let crashes = 0;
    while (crashes < effort.patternCrashes) {
      const commit = crashes + 1;
      const { trace, crashed } = await crashRun(fixture, { commit, when });
      expect(accepts(fixture.net, trace) || `commit ${commit}: ${trace.join(" ")}`).toBe(true);
      if (!crashed) break;
      crashes++;
    }
    expect(crashes).toBeGreaterThan(0);
    found[kind] = crashes;
  });
});

describe("the table in the docs", () => {
  it.runIf(effort.patternsThroughJson)("says what was found (npm run patterns writes it)", async () => {
    expect(new Set(fixtures.map(({ fixture }) => fixture.pattern)).size).toBe(43);
    await expect(patternTable(fixtures, findings)).toMatchFileSnapshot("../docs/control-flow-patterns.md");
  });
});
