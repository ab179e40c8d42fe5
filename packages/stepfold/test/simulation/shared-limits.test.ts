import { expect, it } from "vitest";
import { simulatedStore } from "../../../../scripts/simulation/simulated-store.ts";
import { tries } from "../../../../scripts/test/effort.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { isTerminal } from "../../src/core/snapshot/snapshot.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import type { Random } from "../../src/testing/simulation/random.ts";
import type { ClientScript, Scenario } from "../../src/testing/simulation/scenario.ts";
import { simulate } from "../../src/testing/simulation/simulate.ts";
import { flow } from "../nodes/workflow.fixture.ts";

const child = flow("child", { rest: ["wait", { for: "100ms" }], end: ["set", "child"] }, ["rest>end"]);

/** Executions of two keys with a concurrency limit, a rate limit or both. Some executions are cancelled. */
function crowd(random: Random): Scenario {
  const key = "{{ input.key }}";
  const rateLimit = random.chance(0.6) ? { key, limit: random.between(1, 3), period: random.between(200, 3_000) } : undefined;
  const concurrency = !rateLimit || random.chance(0.6) ? { key, limit: random.between(1, 2) } : undefined;
  // long enough to end without a line, too short for a long one
  const timeout = random.chance(0.4) ? random.between(1_500, 4_000) : undefined;
  const work = flow(
    "work",
    {
      one: ["set", 1],
      rest: ["wait", { for: "300ms" }],
      child: ["workflow", { workflow: "child", detached: true, input: "{{ input }}" }],
      two: ["set", "done"],
    },
    ["one>rest", "rest>child", "child>two"],
    { ...(concurrency && { concurrency }), ...(rateLimit && { rateLimit }), ...(timeout && { timeout }) },
  );
  const isSimulated = random.chance(0.5);
  return {
    store: (world) => (isSimulated ? simulatedStore(world) : memoryStore({ now: world.now })),
    workflows: [work, child] as never,
    nodeDefinitions: builtinNodes,
    clients: Array.from({ length: random.between(3, 7) }, (_, index) => {
      const workflowId = `w${index}`;
      const cancelAfterMs = random.chance(0.2) ? random.between(0, 4_000) : null;
      return [
        owner(workflowId, random.pick(["k", "l"]), { mayTimeOut: timeout !== undefined, mayBeCancelled: cancelAfterMs !== null }),
        ...(cancelAfterMs === null ? [] : [canceller(workflowId, cancelAfterMs)]),
      ];
    }),
  };
}

/** How an execution may end, besides its completion. */
interface Ends {
  readonly mayTimeOut: boolean;
  readonly mayBeCancelled: boolean;
}

/** Starts an execution, and waits for its end. */
function owner(workflowId: string, key: string, { mayTimeOut, mayBeCancelled }: Ends): ClientScript {
  return async ({ runtime, sleep }) => {
    const run = await runtime.start("work", { workflowId, input: { key } });
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

it("of executions that share a limit no more are held at once, and all come to their end", { timeout: 300_000 }, async () => {
  const { failures } = await simulate(crowd, { schedules: tries(40) });
  expect(failures.map(({ outcome, options }) => [options, outcome.violations])).toEqual([]);
});
