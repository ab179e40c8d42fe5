import { describe, expect, it } from "vitest";
import { memoryQueueBench } from "../../test/testing/memory-queue-bench.fixture.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { WorkQueue } from "../ports/work-queue.ts";
import { brokenQueues, ContractViolation, isQueueClaimed, type QueueBench, type QueueContractCase, workQueueContract } from "./index.ts";

const byName = new Map(workQueueContract.map((contractCase) => [contractCase.name, contractCase]));
/** The needs of cases for which there is no broken queue, because a queue in memory cannot break their promises. */
const beyondMemory = ["durable", "joins"];

describe("the contract of WorkQueue", () => {
  for (const { name, caughtBy, breaks } of brokenQueues) {
    it(`notices a queue that ${name}`, async () => {
      const failure = await failureOf(byName.get(caughtBy)!, brokenBench(breaks()));
      // Any other error would be a mistake of the wrapper.
      expect(failure instanceof ContractViolation || StepfoldError.is(failure), String(failure)).toBe(true);
    });
  }

  it("has a name of its own for every case, and a broken queue for every case that memory can fail", () => {
    expect(byName.size).toBe(workQueueContract.length);
    const caught = new Set(brokenQueues.map(({ caughtBy }) => caughtBy));
    const others = workQueueContract.filter(({ name, needs }) => !caught.has(name) && !beyondMemory.includes(needs ?? ""));
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  it("asks nothing of a queue that does not claim it", () => {
    const claimed = workQueueContract.filter((contractCase) => isQueueClaimed(contractCase, memoryQueueBench()));
    expect([...new Set(claimed.flatMap(({ needs = [] }) => needs))]).toEqual(["delays"]);
  });
});

/** Returns the bench of a correct queue, in which every handle has the mistake. */
function brokenBench(wrong: (queue: WorkQueue) => WorkQueue): QueueBench {
  const bench = memoryQueueBench();
  const right = new Map<WorkQueue, WorkQueue>();
  const broken = (queue: WorkQueue): WorkQueue => {
    const made = wrong(queue);
    right.set(made, queue);
    return made;
  };
  return {
    ...bench,
    queue: broken(bench.queue),
    open: async () => broken(await bench.open()),
    kill: (queue) => bench.kill(right.get(queue)!),
  };
}

async function failureOf(contractCase: QueueContractCase, bench: QueueBench): Promise<unknown> {
  try {
    await contractCase.run(bench);
    return null;
  } catch (error) {
    return error;
  }
}
