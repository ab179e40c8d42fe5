import { seededRandom } from "../../../packages/stepfold/src/testing/simulation/random.ts";
import type { Finding, Job, JobResult } from "../job.ts";
import { runDay } from "./day.ts";
import { judgeDay } from "./judge-day.ts";
import { randomDay } from "./plan.ts";

/** Runs days, each with `schedulesADay` schedules. With a mutant it stops when the mutant is caught. */
export async function runDays({ seed, schedules: days, schedulesADay = 0, mutant, options }: Job): Promise<JobResult> {
  const sums = { schedules: 0, commits: 0, steps: 0, repeated: 0, rescues: 0, violations: 0, days: 0, ticks: 0 };
  const findings: Finding[] = [];
  while (sums.days < days && !(mutant && findings.length > 0)) {
    const own = seed + sums.days;
    const random = seededRandom(`day ${own}`);
    const day = randomDay(random.fork("day"), schedulesADay);
    const seen = await runDay(day, random.fork("world"));
    sums.days++;
    for (const { starts } of seen.schedules.values()) sums.ticks += starts.length;
    const wrong = [...judgeDay(day, seen)];
    if (wrong.length === 0) continue;
    sums.violations++;
    for (const message of wrong.slice(0, 5)) findings.push({ options: { ...options, seed: own }, invariant: "ticks", message });
  }
  return { ...sums, findings };
}
