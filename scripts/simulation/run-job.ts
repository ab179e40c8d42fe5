import type { Violation } from "../../packages/stepfold/src/testing/simulation/ledger.ts";
import { runSchedule } from "../../packages/stepfold/src/testing/simulation/run-schedule.ts";
import type { ScenarioOf } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { shrinkSchedule } from "../../packages/stepfold/src/testing/simulation/shrink.ts";
import { randomCodeLives } from "./code-lives.ts";
import { randomCrowd } from "./crowds.ts";
import type { Family, Finding, Job, JobResult } from "./job.ts";
import { randomLives } from "./lives.ts";
import { patchedMutants } from "./patched-mutants.ts";
import { portMutants } from "./port-mutants.ts";
import { randomCode, randomScenario } from "./scenario.ts";

const scenarios: Readonly<Record<Family, ScenarioOf>> = {
  programs: randomScenario,
  code: randomCode,
  lives: randomLives,
  "code-lives": randomCodeLives,
  crowds: randomCrowd,
};

/** Runs schedules. With a mutant it stops when the mutant is caught. */
export async function runJob({
  seed,
  schedules,
  options,
  family = "programs",
  mutant: name,
  mostRescues = Number.POSITIVE_INFINITY,
}: Job): Promise<JobResult> {
  const mutant = [...patchedMutants, ...portMutants].find((one) => one.name === name);
  const scenarioOf: ScenarioOf = (random) => {
    const scenario = scenarios[family](random);
    if (!mutant || "patches" in mutant) return scenario;
    const { store: breaks, ...seen } = mutant;
    const { store } = scenario;
    return { ...scenario, ...seen, ...(breaks && { store: (world) => breaks(store(world), world) }) };
  };
  const sums = { schedules: 0, commits: 0, steps: 0, repeated: 0, rescues: 0, violations: 0 };
  const findings: Finding[] = [];
  // the limit is for the sum of all schedules, so the gate may fail before the last of them has run
  const isOverGate = (): boolean => sums.rescues > mostRescues * schedules;
  while (sums.schedules < schedules && !isOverGate() && !(mutant && findings.length > 0)) {
    const schedule = { ...options, ...mutant?.options, seed: seed + sums.schedules };
    const outcome = await runSchedule(scenarioOf, schedule);
    sums.schedules++;
    sums.commits += outcome.commits;
    sums.steps += outcome.steps;
    sums.repeated += outcome.repeated;
    sums.rescues += outcome.rescues;
    if (outcome.violations.length === 0) continue;
    // a mutant may also break rules other than those that have to notice it, and earlier
    const isTold = (violation: Violation): boolean => !mutant || mutant.caughtBy.includes(ruleOf(violation));
    if (!outcome.violations.some(isTold)) continue;
    sums.violations++;
    if (findings.length > 0) continue;
    const smallest = mutant ? { options: schedule, outcome } : await shrinkSchedule(scenarioOf, { options: schedule, outcome });
    for (const violation of smallest.outcome.violations.filter(isTold).slice(0, 3)) {
      const { message, workflowId = "all", atMs } = violation;
      findings.push({ options: smallest.options, invariant: ruleOf(violation), message: `${workflowId}, after ${atMs} ms: ${message}` });
    }
  }
  const rescues = sums.rescues / sums.schedules;
  if (rescues > mostRescues) {
    sums.violations++;
    findings.push({ options: { ...options, seed }, invariant: "rescues", message: `${rescues} a schedule, more than ${mostRescues}` });
  }
  return { ...sums, findings };
}

/** Returns the rule of a violation. The scenario's own check puts it at the beginning of the message. */
function ruleOf({ invariant, message }: Violation): string {
  return invariant === "check" ? message.slice(0, message.indexOf(" ")) : invariant;
}
