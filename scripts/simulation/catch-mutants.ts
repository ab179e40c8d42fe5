import { dayMutants, schedulesADay } from "./days/day-mutants.ts";
import type { Job, JobResult } from "./job.ts";
import { patchedMutants } from "./patched-mutants.ts";
import { portMutants } from "./port-mutants.ts";
import { runJobs } from "./threads.ts";

/** By default mistakes are looked for where all workers have all of the code. */
const uniform = { otherWorkers: false } as const;
/** The number of schedules, and of days, after which a mutant counts as not caught. */
const mostSchedules = 600;
const mostDays = 5;

/** Runs every mutant, or the named one, and prints by which rule it was caught. */
export async function catchMutants(only: string | null): Promise<{ readonly caught: number; readonly all: number }> {
  const mutants = [...patchedMutants, ...portMutants, ...dayMutants].filter(({ name }) => only === null || name === only);
  if (mutants.length === 0) throw new RangeError(`no mutant is called ${only}`);
  let caught = 0;
  const onDone = ({ mutant }: Job, { schedules, findings, days = 0 }: JobResult): void => {
    const { caughtBy } = mutants.find(({ name }) => name === mutant)!;
    const [first] = findings;
    const rule = findings.find(({ invariant }) => caughtBy.includes(invariant))?.invariant;
    const isCaught = first !== undefined && rule !== undefined;
    if (isCaught) caught++;
    const how = first
      ? `${rule?.padEnd(6)} seed ${first.options.seed}`
      : `not by ${caughtBy.join(", ")} in ${days > 0 ? `${days} days` : `${schedules} schedules`}`;
    console.log(`${isCaught ? "caught " : "MISSED "} ${mutant!.padEnd(40)} ${how}`);
  };
  const jobs = mutants.map((mutant): Job => {
    const { name, gate, family, firstSeed: seed = 1 } = mutant;
    const day = dayMutants.find((one) => one.name === name)?.day;
    if (day !== undefined) return { seed: day, schedules: mostDays, schedulesADay, options: {}, mutant: name };
    return { seed, schedules: mostSchedules, options: uniform, ...gate, ...(family && { family }), mutant: name };
  });
  await runJobs(jobs, onDone);
  return { caught, all: mutants.length };
}
