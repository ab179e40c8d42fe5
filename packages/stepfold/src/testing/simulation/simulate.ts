import { runSchedule, type ScheduleOutcome } from "./run-schedule.ts";
import type { ScenarioOf, ScheduleOptions } from "./scenario.ts";
import { type FailedSchedule, shrinkSchedule } from "./shrink.ts";

/** How many schedules, and which. */
export interface SimulateOptions extends Omit<ScheduleOptions, "seed"> {
  /** Default 100. */
  readonly schedules?: number;
  /** Of the first schedule; each further one has the next. Default 1. */
  readonly seed?: number;
  /** Ends after so many schedules that break a rule. Default 1. */
  readonly maxFailures?: number;
  /** Whether failures are made as small as they get, which takes some dozens of schedules. Default true. */
  readonly shrinks?: boolean;
  /** Told of every schedule. */
  readonly onOutcome?: (outcome: ScheduleOutcome) => void;
}

/** What came of all schedules. */
export interface SimulationReport {
  readonly schedules: number;
  /** Empty: no rule was broken. Otherwise each with the options that show it again. */
  readonly failures: readonly FailedSchedule[];
  readonly commits: number;
  /** Steps that were performed again, as a crash may make necessary. */
  readonly repeated: number;
  /** Executions that somebody had lost, or nobody was told of. */
  readonly rescues: number;
}

/**
 * Runs your workflows through hundreds of bad days, in no time: processes die and come back, the store fails before and
 * after it has done its work, messages are lost and doubled, clocks are wrong. The real runtime runs, under a clock and a
 * scheduler that a seed decides, and after every commit the rules are checked that must always hold.
 *
 * ```ts
 * import { memoryStore } from "stepfold/stores/memory";
 * import { simulate } from "stepfold/testing";
 *
 * const { failures } = await simulate(
 *   () => ({
 *     store: ({ now }) => memoryStore({ now }),
 *     workflows: [{ id: "greet", nodes: [{ id: "say", type: "say" }], edges: [] }],
 *     nodeDefinitions: { say: { executor: () => ({ data: "hello" }) } },
 *     clients: [async ({ runtime }) => void (await (await runtime.start("greet", { workflowId: "a" })).result())],
 *   }),
 *   { schedules: 20 },
 * );
 * console.log(failures.length); // 0
 * ```
 *
 * @param scenarioOf makes what is to be simulated, with chance that the seed decides
 */
export async function simulate(scenarioOf: ScenarioOf, options: SimulateOptions = {}): Promise<SimulationReport> {
  const { schedules = 100, seed = 1, maxFailures = 1, shrinks = true, onOutcome, ...more } = options;
  const failures: FailedSchedule[] = [];
  const sums = { schedules: 0, commits: 0, repeated: 0, rescues: 0 };
  while (sums.schedules < schedules && failures.length < maxFailures) {
    const schedule = { ...more, seed: seed + sums.schedules };
    const outcome = await runSchedule(scenarioOf, schedule);
    sums.schedules++;
    sums.commits += outcome.commits;
    sums.repeated += outcome.repeated;
    sums.rescues += outcome.rescues;
    onOutcome?.(outcome);
    if (outcome.violations.length === 0) continue;
    const failure = { options: schedule, outcome };
    failures.push(shrinks ? await shrinkSchedule(scenarioOf, failure) : failure);
  }
  return { ...sums, failures };
}
