import { runSchedule, type ScheduleOutcome } from "./run-schedule.ts";
import type { ScenarioOf, ScheduleOptions } from "./scenario.ts";

/** A schedule that breaks a rule, made as small as possible unless that was turned off. */
export interface FailedSchedule {
  readonly options: ScheduleOptions;
  readonly outcome: ScheduleOutcome;
}

/** The most schedules that are run to make one schedule smaller. */
const maxTries = 200;
/** How many other random orders are tried, because leaving something out changes the order of everything else. */
const chances = 8;

/**
 * Finds a smaller schedule that breaks the same rule: without other workers, with fewer clients, fewer kinds of faults, and faults that end earlier. It
 * leaves out whatever it can, in this order, until nothing more can be left out or `maxTries` schedules have been run.
 */
export async function shrinkSchedule(scenarioOf: ScenarioOf, failed: FailedSchedule): Promise<FailedSchedule> {
  let smallest = failed;
  let tries = 0;
  const attempt = async (less: Omit<ScheduleOptions, "seed">): Promise<void> => {
    const { chance, ...options } = { ...pinned(smallest), ...less };
    const orders = Array.from({ length: chances }, (_, order) => order);
    for (const order of chance === undefined ? [undefined, ...orders] : [chance, ...orders]) {
      if (tries++ >= maxTries) return;
      const given = order === undefined ? options : { ...options, chance: order };
      const outcome = await runSchedule(scenarioOf, given);
      if (outcome.violations[0]?.invariant !== failed.outcome.violations[0]?.invariant) continue;
      smallest = { options: given, outcome };
      return;
    }
  };
  for (let before: FailedSchedule | null = null; before !== smallest && tries < maxTries; ) {
    before = smallest;
    if (smallest.outcome.plan.otherWorkers) await attempt({ otherWorkers: false });
    for (const client of smallest.outcome.plan.clients) {
      const clients = smallest.outcome.plan.clients.filter((other) => other !== client);
      if (clients.length > 0) await attempt({ clients });
    }
    for (const kind of smallest.outcome.plan.faults)
      await attempt({ faults: smallest.outcome.plan.faults.filter((other) => other !== kind) });
    const { mode, faults, faultsUntilMs } = smallest.outcome.plan;
    if (mode === "liveness" && faults.length > 0 && faultsUntilMs > 500) await attempt({ faultsUntilMs: Math.floor(faultsUntilMs / 2) });
  }
  return smallest;
}

/** Returns the options with everything that the seed had decided, so that leaving one thing out does not change another. */
function pinned({ options, outcome }: FailedSchedule): ScheduleOptions {
  const { mode, faults, faultsUntilMs, wakeUps, clients, otherWorkers } = outcome.plan;
  return { ...options, mode, faults, faultsUntilMs, wakeUps, clients, otherWorkers };
}
