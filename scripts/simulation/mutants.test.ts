import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dayMutants } from "./days/day-mutants.ts";
import { patchedMutants } from "./patched-mutants.ts";
import { portMutants } from "./port-mutants.ts";

const all = [...patchedMutants, ...portMutants, ...dayMutants];

// `npm run simulate`, which e2e/simulation.test.ts runs, shows that each mutant is caught
it("every rule is shown to notice something", () => {
  const shown = new Set(all.filter(({ caughtBy }) => caughtBy.length === 1).flatMap(({ caughtBy }) => caughtBy));
  const rules = [
    "I1",
    "I2",
    "I3",
    "I4",
    "I5",
    "I5b",
    "I6",
    "I7",
    "I8",
    "I9",
    "I10",
    "I11",
    "I12",
    "I13",
    "I14",
    "I15",
    "I16",
    "I17",
    "I18",
    "I19",
    "I20",
    "I21",
    "I25",
    "I26",
    "I27",
  ];
  expect(rules.filter((rule) => !shown.has(rule))).toEqual([]);
});

it("no two mistakes have one name", () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

// each mutant is one change of the code, so it has to be adapted when that code changes
it.each(
  [...patchedMutants, ...dayMutants].flatMap(({ name, patches }) => patches.map((patch) => [name, patch] as const)),
)("%s fits the code", (_, { file, find }) => {
  const text = readFileSync(join(import.meta.dirname, "../../packages/stepfold/src", file), "utf8");
  expect(text.split(find)).toHaveLength(2);
});
