import { describe, expect, it } from "vitest";
import { codeMutants } from "./code-mutants.ts";
import type { JobResult } from "./job.ts";
import { portMutants } from "./port-mutants.ts";
import { runJobs } from "./threads.ts";

const all = [...codeMutants, ...portMutants];

describe("a mistake is noticed", () => {
  it.each(all)("$name", { timeout: 300_000 }, async ({ name, caughtBy, gate }) => {
    let result: JobResult | null = null;
    await runJobs([{ seed: 1, schedules: 300, options: {}, ...gate, mutant: name }], (_job, done) => {
      result = done;
    });
    const { findings } = result! as JobResult;
    expect(findings.map(({ invariant }) => invariant).filter((rule) => caughtBy.includes(rule))).not.toEqual([]);
  });
});

it("every rule is shown to notice something", () => {
  const shown = new Set(all.filter(({ caughtBy }) => caughtBy.length === 1).flatMap(({ caughtBy }) => caughtBy));
  const rules = ["I1", "I2", "I3", "I4", "I5", "I5b", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "I17"];
  expect(rules.filter((rule) => !shown.has(rule))).toEqual([]);
});

it("no two mistakes have one name", () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});
