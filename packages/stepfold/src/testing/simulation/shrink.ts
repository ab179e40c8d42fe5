import { runSchedule, type ScheduleOutcome } from "./run-schedule.ts";
import type { ScenarioOf, ScheduleOptions } from "./scenario.ts";

/** A schedule that breaks a rule, and what is left of it when everything is taken away that it does not need. */
export interface FailedSchedule {
  readonly options: ScheduleOptions;
  readonly outcome: ScheduleOutcome;
}

/** So many schedules at most are run to make one smaller. */
const maxTries = 200;
/** What is left out changes the order of all the rest: so many other orders are tried. */
const chances = 8;

/**
 * A smaller schedule that breaks the same rule: fewer clients, fewer kinds of faults, and none of them late. Greedy: what
 * can be left out is left out, in this order, until nothing can.
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

/** The options with all that the seed had decided, so that leaving one thing out does not change another. */
function pinned({ options, outcome }: FailedSchedule): ScheduleOptions {
  const { mode, faults, faultsUntilMs, wakeUps, clients } = outcome.plan;
  return { ...options, mode, faults, faultsUntilMs, wakeUps, clients };
}
