import { isTerminal } from "../../core/snapshot/snapshot.ts";
import { checkAnswers, checkAttempts, checkFold, checkSettled, preparedWorkflows } from "./checks/check-history.ts";
import { checkChild, checkLife } from "./checks/check-life.ts";
import { isOwnSchedule, type Violation } from "./ledger.ts";
import { maxAttemptsByNode } from "./max-attempts.ts";
import { beginOutages } from "./outages.ts";
import { planOf, type SchedulePlan } from "./plan.ts";
import { beginProcesses, scriptsOf } from "./processes.ts";
import { checkPromises } from "./promises.ts";
import { seededRandom } from "./random.ts";
import type { ScenarioOf, ScheduleOptions } from "./scenario.ts";
import { World } from "./world.ts";

/** The result of one schedule. */
export interface ScheduleOutcome {
  readonly seed: number;
  readonly plan: SchedulePlan;
  readonly violations: readonly Violation[];
  /** A hash of all commits and their times. The same options always give the same hash. */
  readonly hash: number;
  readonly commits: number;
  /** How many timers and other entries the scheduler has run. */
  readonly steps: number;
  readonly executions: number;
  /** The number of steps that were performed again, as a crash may make necessary. */
  readonly repeated: number;
  /** The number of claims of executions whose holder was lost, or that a poll found because no process had come for them in time. */
  readonly rescues: number;
  /** The virtual time that the schedule took. */
  readonly virtualMs: number;
}

/** The longest virtual time of a schedule. Everything has ended long before, unless something is stuck. */
const limitMs = 10 * 60_000;
/** The longest virtual time of a schedule in the mode `safety`. */
const safetyMs = 20_000;

/**
 * Runs one schedule from its beginning to its end.
 *
 * @returns the result; the same options always give the same result
 */
export async function runSchedule(scenarioOf: ScenarioOf, options: ScheduleOptions): Promise<ScheduleOutcome> {
  const random = seededRandom(`${options.seed}`);
  const scenario = scenarioOf(random.fork("scenario"));
  const plan = planOf(options, random, scenario);
  const world = new World(scenario, plan, random.fork(`world${options.chance ?? ""}`));
  const { ledger, scheduler } = world;
  let left = plan.clients.reduce((sum, index) => sum + scriptsOf(scenario.clients[index] ?? []).length, 0);
  beginOutages(world);
  beginProcesses(world, () => left--);
  const isOver = (): boolean => ledger.violations.length > 0 || (left === 0 && ledger.isQuiet);
  await scheduler.run(isOver, plan.mode === "safety" ? safetyMs : limitMs);
  if (ledger.violations.length === 0) await checkEnd(world, left);
  return {
    seed: options.seed,
    plan,
    violations: ledger.violations,
    hash: ledger.hash,
    commits: ledger.commits,
    steps: scheduler.steps,
    executions: ledger.entries.size,
    repeated: world.effects.repeated,
    rescues: ledger.rescues,
    virtualMs: scheduler.nowMs,
  };
}

async function checkEnd(world: World, clientsLeft: number): Promise<void> {
  const { ledger, effects, replays, plan, scenario, store, random } = world;
  checkPromises(ledger, world.promises);
  world.loans.check(ledger);
  const prepared = preparedWorkflows(store);
  const most = maxAttemptsByNode(scenario);
  const chance = random.fork("history");
  for (const entry of ledger.entries.values()) {
    checkAnswers(ledger, entry);
    checkAttempts(ledger, entry, most, (address) => replays.hasAsked(entry, address));
    checkLife(ledger, entry);
    replays.checkResults(entry);
    // The node of Stepfold's own schedules is not observed, so its calls are not recorded.
    if (!isOwnSchedule(entry)) effects.checkCommitted(entry);
    await checkFold(ledger, entry, store, prepared, chance, (done) => effects.checkDone(entry, done));
    if (plan.mode !== "safety") {
      checkSettled(ledger, entry);
      checkChild(ledger, entry, entry.head.parent ? await store.load(entry.head.parent.workflowId) : null);
    }
    const snapshot = isTerminal(entry.status) && scenario.check ? await store.load(entry.workflowId) : null;
    for (const wrong of (snapshot && scenario.check?.({ snapshot, events: entry.events })) ?? [])
      ledger.violate("check", wrong, entry.workflowId);
  }
  if (plan.mode !== "safety" && clientsLeft > 0 && ledger.violations.length === 0)
    ledger.violate("I7", `${clientsLeft} clients wait for ever`);
  if (plan.mode !== "faultFree") return;
  if (effects.repeated > 0) ledger.violate("I12", `${effects.repeated} steps were performed again though nothing had failed`);
  if (ledger.rescues > 0) ledger.violate("I12", `${ledger.rescues} executions had to be rescued though nothing had failed`);
}
