import { beforeAll, describe, expect, it } from "vitest";
import { type Finding, free, leastMs, measured, type Swept, suspicious, sweptFunctions, verdictOn } from "./sweep.fixture.ts";
import { sweptKeywords } from "./sweep-keywords.fixture.ts";

// The rule that ends A1 to A4, A9, A13, A14, A23: all work is paid. Everything that expressions and schemas can call is called with texts,
// lists and objects of one size and of eight times that size. What it costs grows at least as what it takes, and no unit of it takes more
// than fifty times as long as the median of all. Both are compared within this run, so neither depends on the machine.

interface Told {
  readonly swept: Swept;
  readonly findings: readonly Finding[];
  readonly accepted: number;
}

function sweep(all: readonly Swept[]): { told: readonly Told[]; medianMs: number } {
  const told = all.map((swept) => ({ swept, ...suspicious(swept) }));
  const units = told.flatMap(({ findings }) => findings.map(({ times, costs }) => times[1] / (1 + costs[1]))).sort((a, b) => a - b);
  return { told, medianMs: units[units.length >> 1]! };
}

/** What is wrong with a call. A machine that does something else meanwhile must not fail a test, so what seems wrong is measured again. */
function mistakeOf({ swept, finding, medianMs }: { swept: Swept; finding: Finding; medianMs: number }): string | null {
  let current = finding;
  for (const rounds of [10, 20, 40]) {
    if (verdictOn(current, medianMs) === null) return null;
    current = measured(swept.calls.find(({ what }) => what === finding.what)!, rounds);
  }
  const mistake = verdictOn(current, medianMs);
  return (
    mistake &&
    `${finding.what} ${mistake} (${current.times.map((ms) => ms.toFixed(3)).join(" and ")} ms for ${current.costs.join(" and ")})`
  );
}

describe.each([
  ["functions, methods and operators of expressions", sweptFunctions()],
  ["keywords of schemas", sweptKeywords()],
])("all work of %s", (_, all) => {
  let told: readonly Told[] = [];
  let medianMs = 0;
  beforeAll(() => {
    ({ told, medianMs } = sweep(all));
  }, 300_000);

  it("is tried", () => {
    expect(told.filter(({ accepted }) => accepted === 0).map(({ swept }) => swept.name)).toEqual([]);
  });

  it("is paid", () => {
    const mistakes = told.flatMap(({ swept, findings }) => findings.map((finding) => mistakeOf({ swept, finding, medianMs })));
    expect(mistakes.filter((mistake) => mistake !== null)).toEqual([]);
  }, 120_000);

  it("would be told if it were not paid, one function after the other", () => {
    const slow = told.filter(({ findings }) => findings.some(({ times }) => times[1] >= leastMs));
    const silent = slow.filter(({ findings }) => findings.every((finding) => verdictOn(free(finding), medianMs) === null));
    expect(silent.map(({ swept }) => swept.name)).toEqual([]);
    // the others take too little time for anything of this size, whatever they are given
    expect(slow.length).toBeGreaterThan(told.length / 4);
  });
});
