// Runs random workflows under random faults, with the real engine and runtime: docs/testing/simulation.md.

import type { ScheduleOptions } from "../packages/stepfold/src/testing/simulation/scenario.ts";
import { type Arguments, commandFor, readArguments } from "./simulation/arguments.ts";
import { catchMutants } from "./simulation/catch-mutants.ts";
import corpus from "./simulation/corpus.json" with { type: "json" };
import type { Family, Job, JobResult } from "./simulation/job.ts";
import { messagesAreKept } from "./simulation/mutant.ts";
import { runJobs } from "./simulation/threads.ts";

const usage = `npm run simulate -- [--schedules N] [--code | --lives | --code-lives | --crowds] [--days N] [--seed N] [--mutants] [--only MUTANT] and, as a failure tells them,
[--chance N] [--mode liveness|safety|faultFree] [--faults a,b] [--faults-until MS] [--clients 0,1] [--wake-ups both|store|queue] [--other-workers yes|no]`;

/** The number of schedules in one job of a thread. */
const batch = 50;
/** For so many random programs there is one schedule more of another family. */
const programsForOne = { code: 1, lives: 5, "code-lives": 10, crowds: 10 };
/** The number of schedules of the library in one day. */
const schedulesADay = 50;

const told = read();
const parts: string[] = [];
if (told.only === null && told.schedules + told.days > 0) parts.push(...(await simulate(told)));
if (told.mutants) {
  const { caught, all } = await catchMutants(told.only);
  parts.push(`${caught} of ${all} mutants caught`);
  if (caught < all) process.exitCode = 1;
}
console.log(parts.join(", "));

function read(): Arguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    console.log(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

async function simulate({ schedules, family, days, seed, options }: Arguments): Promise<string[]> {
  const sums = { schedules: 0, commits: 0, steps: 0, repeated: 0, rescues: 0, violations: 0, days: 0, ticks: 0 };
  const start = performance.now();
  const onDone = (job: Job, result: JobResult): void => {
    sums.schedules += result.schedules;
    sums.commits += result.commits;
    sums.steps += result.steps;
    sums.repeated += result.repeated;
    sums.rescues += result.rescues;
    sums.violations += result.violations;
    sums.days += result.days ?? 0;
    sums.ticks += result.ticks ?? 0;
    const [first] = result.findings;
    if (!first) return;
    console.log(`\nSeed ${first.options.seed} breaks a rule:`);
    for (const { invariant, message } of result.findings) console.log(`  ${invariant}  ${message}`);
    if (job.schedulesADay !== undefined) {
      console.log(`Again:\n  npm run simulate -- --schedules 0 --days 1 --seed ${first.options.seed}\n`);
      return;
    }
    console.log(`Again, with all left out that it does not need:\n  ${commandFor(first.options, job.family)}`);
    const kept = { ...(job.family && { family: job.family }), ...first.options };
    console.log(`To have it run for ever, add to scripts/simulation/corpus.json:\n  ${JSON.stringify(kept)}\n`);
  };
  await runJobs(
    [
      ...jobsOfDays(seed, days),
      ...jobsOfCorpus(schedules),
      ...jobsFor(seed, schedules, options, family ?? "programs"),
      ...(family === null ? jobsOfOthers(schedules) : []),
      ...jobsOfGates(schedules),
    ],
    onDone,
  );
  const seconds = (performance.now() - start) / 1000;
  const each = (count: number): string => (count / sums.schedules).toFixed(1);
  if (days > 0)
    console.log(
      `${sums.ticks.toLocaleString("en")} ticks of ${schedulesADay} schedules in ${sums.days === 1 ? "a day" : `${sums.days} days`} on which a clock changes`,
    );
  if (sums.schedules > 0)
    console.log(
      `${each(sums.steps)} steps, ${each(sums.commits)} commits, ${each(sums.repeated)} steps repeated and ${each(sums.rescues)} rescues a schedule; ${seconds.toFixed(1)} s`,
    );
  if (sums.violations > 0) process.exitCode = 1;
  const daysTold = days > 0 ? [sums.days === 1 ? "1 day" : `${sums.days} days`] : [];
  return [`${sums.schedules.toLocaleString("en")} schedules`, ...daysTold, `${sums.violations} violations`];
}

function jobsOfGates(schedules: number): Job[] {
  return schedules < messagesAreKept.schedules ? [] : [{ seed: 1, ...messagesAreKept, mutant: null }];
}

function jobsOfDays(seed: number, days: number): Job[] {
  return Array.from({ length: days }, (_, i) => ({ seed: seed + i, schedules: 1, schedulesADay, options: {}, mutant: null }));
}

/** Returns jobs for the schedules of the corpus, which have failed before. They are part of every run of more than one schedule. */
function jobsOfCorpus(schedules: number): Job[] {
  if (schedules <= 1) return [];
  return (corpus as (ScheduleOptions & Pick<Job, "family">)[]).map(({ seed, family = "programs", ...options }) => {
    return { seed, schedules: 1, options: { otherWorkers: false, ...options }, family, mutant: null };
  });
}

function jobsOfOthers(schedules: number): Job[] {
  return (["code", "lives", "code-lives", "crowds"] as const).flatMap((family) =>
    jobsFor(1, Math.floor(schedules / programsForOne[family]), {}, family),
  );
}

function jobsFor(seed: number, schedules: number, options: Job["options"], family: Family): Job[] {
  const jobs: Job[] = [];
  for (let done = 0; done < schedules; done += batch)
    jobs.push({ seed: seed + done, schedules: Math.min(batch, schedules - done), options, family, mutant: null });
  return jobs;
}
