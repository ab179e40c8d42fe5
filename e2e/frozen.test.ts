import { describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { bench } from "./kill9/bench.ts";
import { frozenHolders, takeoverBoundMs } from "./kill9/frozen.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportFrozen } from "./kill9/report.ts";

const { freezes } = effort;

describe.concurrent.each([
  "postgres",
  "postgres + pg-boss",
  "mysql",
  "redis",
])("workers that stand still in the middle of a commit on %s", (name) => {
  it(`${freezes} of them: others take over in time, and what they were about to commit is never made`, { timeout: 300_000 }, async ({
    skip,
    onTestFinished,
  }) => {
    const ended = await frozenHolders({ ...(await bench(name, skip, onTestFinished)), freezes });
    console.log(reportFrozen(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    const stored = new Set(ended.stored.executions.flatMap(({ rows }) => rows.map(({ commitId }) => commitId)));
    expect(ended.made.flatMap(({ commitIds }) => commitIds).filter((id) => stored.has(id))).toEqual([]);
    expect(ended.made.filter(({ commitIds }) => commitIds.length === 0)).toEqual([]);
    expect(Math.max(...ended.made.map(({ takenOverMs }) => takenOverMs))).toBeLessThan(takeoverBoundMs);
  });
});
