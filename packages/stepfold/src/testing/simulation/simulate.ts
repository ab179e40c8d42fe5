import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { ImportedWorkflow } from "../../core/definition/imported-workflow.ts";
import type { AnyTyped } from "../../engine/node/typed.ts";
import { runSchedule, type ScheduleOutcome } from "./run-schedule.ts";
import type { ScenarioOf, ScheduleOptions } from "./scenario.ts";
import { type FailedSchedule, shrinkSchedule } from "./shrink.ts";
import { type WorkflowScenarioOptions, workflowScenario } from "./workflow-scenario.ts";

/** Which schedules to run, and how many. */
export interface SimulateOptions extends Omit<ScheduleOptions, "seed"> {
  /** The number of schedules. Default: 100. */
  readonly schedules?: number | undefined;
  /** The seed of the first schedule; each further schedule has the next number. Default: 1. */
  readonly seed?: number | undefined;
  /** Ends after this number of schedules that break a rule. Default: 1. */
  readonly maxFailures?: number | undefined;
  /** Whether failed schedules are made as small as possible, which takes up to 200 schedules for each. Default: true. */
  readonly shrinks?: boolean | undefined;
  /** Called with the result of every schedule. */
  readonly onOutcome?: ((outcome: ScheduleOutcome) => void) | undefined;
}

/** The result of all schedules. */
export interface SimulationReport {
  readonly schedules: number;
  /** The schedules that broke a rule, each with the options that show it again. Empty if no rule was broken. */
  readonly failures: readonly FailedSchedule[];
  readonly commits: number;
  /** The number of steps that were performed again, as a crash may make necessary. */
  readonly repeated: number;
  /** The number of claims of executions whose holder was lost, or that a poll found because no process had come for them in time. */
  readonly rescues: number;
}

/**
 * Runs your workflows under hundreds of combinations of faults, in virtual time: processes die and come back, the store fails before
 * and after it has done its work, messages are lost and doubled, clocks are wrong. The real runtime runs, with a clock and a scheduler
 * that a seed decides. After every commit, the rules that must always hold are checked.
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
 * One workflow, of which one execution is started and answered, needs no scenario:
 *
 * ```ts
 * const { failures } = await simulate(refund, { input: { amount: 7 }, answers: { approve: { approved: true } }, nodeDefinitions });
 * ```
 *
 * @param scenarioOf makes the scenario, with random numbers that the seed decides
 */
export function simulate(scenarioOf: ScenarioOf, options?: SimulateOptions): Promise<SimulationReport>;
export function simulate(
  workflow: WorkflowDefinition | ImportedWorkflow | AnyTyped,
  options?: SimulateOptions & WorkflowScenarioOptions,
): Promise<SimulationReport>;
export async function simulate(
  simulated: ScenarioOf | { readonly id: string },
  options: SimulateOptions & WorkflowScenarioOptions = {},
): Promise<SimulationReport> {
  if (typeof simulated === "function") return runSchedules(simulated, options);
  const { input, answers, nodeDefinitions, workflows, globals, ...others } = options;
  return runSchedules(() => workflowScenario(simulated, { input, answers, nodeDefinitions, workflows, globals }), others);
}

async function runSchedules(scenarioOf: ScenarioOf, options: SimulateOptions): Promise<SimulationReport> {
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
