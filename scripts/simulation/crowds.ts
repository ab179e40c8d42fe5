import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import { isTerminal } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import type { NodeDefinition } from "../../packages/stepfold/src/engine/node/node-definition.ts";
import { builtinNodes } from "../../packages/stepfold/src/nodes/index.ts";
import { memoryStore } from "../../packages/stepfold/src/stores/databases/memory/memory-store.ts";
import type { Random } from "../../packages/stepfold/src/testing/simulation/random.ts";
import type { ClientScript, OtherWorker, Scenario } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { simulatedStore } from "./simulated-store.ts";

/** The workflows of a crowd. Only `picture` and its child need the code of `render`. */
const names = ["work", "picture"] as const;
/** The task queues of executions; `default` is that of executions that name none. */
const taskQueues = ["gpu", "default"] as const;

/** Stands for code that some workers do not have. */
const render: NodeDefinition = { executor: () => ({ data: "rendered" }) };

/**
 * Executions of two workflows that share two keys with a concurrency limit, a rate limit or both. Some executions are cancelled. Some workers
 * cannot run one of the workflows, or take only one task queue.
 */
export function randomCrowd(random: Random): Scenario {
  const key = "{{ input.key }}";
  const rateLimit = random.chance(0.6) ? { key, limit: random.between(1, 3), period: random.between(200, 3_000) } : undefined;
  const concurrency = !rateLimit || random.chance(0.6) ? { key, limit: random.between(1, 2) } : undefined;
  // long enough to end without a line, too short for a long one
  const timeout = random.chance(0.4) ? random.between(1_500, 4_000) : undefined;
  const limits = { ...(concurrency && { concurrency }), ...(rateLimit && { rateLimit }), ...(timeout && { timeout }) };
  const isSimulated = random.chance(0.5);
  const others = random.fork("others");
  return {
    store: (world) => (isSimulated ? simulatedStore(world) : memoryStore({ now: world.now })),
    workflows: [...names.map((name) => workOf(name, limits)), childOf("child", random.fork("child"))],
    nodeDefinitions: { ...builtinNodes, render },
    otherWorkers: otherWorkersOf(others),
    clients: Array.from({ length: random.between(3, 7) }, (_, index) => {
      const workflowId = `w${index}`;
      const cancelAfterMs = random.chance(0.2) ? random.between(0, 4_000) : null;
      const given = { workflow: others.pick(names), key: random.pick(["k", "l"]), taskQueue: others.pick([...taskQueues, undefined]) };
      return [
        owner(workflowId, given, { mayTimeOut: timeout !== undefined, mayBeCancelled: cancelAfterMs !== null }),
        ...(cancelAfterMs === null ? [] : [canceller(workflowId, cancelAfterMs)]),
      ];
    }),
  };
}

function otherWorkersOf(random: Random): readonly OtherWorker[] {
  const lacking = { lacks: ["render"] };
  const taking = { taskQueues: [random.pick(taskQueues)] };
  return random.pick([[lacking], [lacking, taking], [taking, lacking], [{ ...lacking, ...taking }], [lacking, { ...lacking, ...taking }]]);
}

/** Two steps with a pause and a detached execution between them. */
function workOf(id: (typeof names)[number], limits: object) {
  return {
    id,
    ...limits,
    nodes: [
      { id: "one", type: id === "picture" ? "render" : "set", data: 1 },
      { id: "rest", type: "wait", data: { for: "300ms" } },
      { id: "child", type: "workflow", data: { workflow: "child", detached: true, input: "{{ input }}" } },
      { id: "two", type: "set", data: "done" },
    ],
    edges: edgesOf("one", "rest", "child", "two"),
  };
}

/** Every worker has the code of the child: a worker that runs a step which starts a detached execution must know the workflow of that. */
function childOf(id: string, random: Random) {
  const taskQueue = random.pick([...taskQueues, undefined]);
  const nodes = [
    { id: "rest", type: "wait", data: { for: "100ms" } },
    { id: "end", type: "set", data: id },
  ];
  return { id, nodes, edges: edgesOf("rest", "end"), ...(taskQueue && { taskQueue }) };
}

function edgesOf(...ids: readonly string[]) {
  return ids.slice(1).map((target, index) => ({ source: ids[index]!, target }));
}

/** What an execution is started with. */
interface Given {
  readonly workflow: string;
  readonly key: string;
  readonly taskQueue: string | undefined;
}

/** How an execution may end, besides its completion. */
interface Ends {
  readonly mayTimeOut: boolean;
  readonly mayBeCancelled: boolean;
}

/** Starts an execution, and waits for its end. */
function owner(workflowId: string, { workflow, key, taskQueue }: Given, { mayTimeOut, mayBeCancelled }: Ends): ClientScript {
  return async ({ runtime, sleep }) => {
    const run = await runtime.start(workflow, { workflowId, input: { key }, taskQueue });
    let { status, error } = await run.snapshot();
    for (; !isTerminal(status); { status, error } = await run.snapshot()) await sleep(400);
    const isTimedOut = status === "failed" && error?.code === "EXECUTION_TIMED_OUT" && mayTimeOut;
    const isRight = status === "completed" || isTimedOut || (status === "cancelled" && mayBeCancelled);
    if (!isRight) throw new RangeError(`${workflowId} is ${status}`);
  };
}

function canceller(workflowId: string, afterMs: number): ClientScript {
  return async ({ runtime, sleep, restarts }) => {
    if (restarts === 0) await sleep(afterMs);
    try {
      await (await runtime.get(workflowId)).cancel();
    } catch (error) {
      // the execution has not been started yet, or has already ended
      if (!StepfoldError.is(error, "WORKFLOW_NOT_FOUND") && !StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
    }
  };
}
