import type { WorkflowDefinition } from "../../packages/stepfold/src/core/definition/definition.ts";
import { needsAny } from "../../packages/stepfold/src/testing/simulation/other-workers.ts";
import type { Random } from "../../packages/stepfold/src/testing/simulation/random.ts";
import type { OtherWorker } from "../../packages/stepfold/src/testing/simulation/scenario.ts";

/** The task queue of some executions, and one that no execution has. */
export const taskQueue = "gpu";
const emptyTaskQueue = "none";

/** The node types that a worker may lack. */
const types = ["flaky", "approve", "deadline", "signal", "timer", "choose", "again", "goOn"] as const;

/**
 * Returns workers that cannot run some of the workflows, or take only some task queues; none for most scenarios.
 *
 * @param detached the workflows of detached executions. Every worker has their code, because a worker that runs a step which starts such an
 * execution must know its workflow
 */
export function randomOthers(random: Random, detached: readonly WorkflowDefinition[]): readonly OtherWorker[] | undefined {
  if (random.chance(0.6)) return undefined;
  const missing = types.filter((type) => !detached.some((definition) => needsAny(definition, [type])));
  const lacking: OtherWorker = { lacks: missing.length > 0 ? [random.pick(missing)] : [] };
  const taking: OtherWorker = { taskQueues: [random.pick([taskQueue, "default", emptyTaskQueue])] };
  return random.pick([[lacking], [lacking, taking], [taking], [{ ...lacking, ...taking }]]);
}
