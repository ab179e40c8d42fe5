import type { SnapshotStore } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { line } from "./line.ts";
import { sleep, spread } from "./measure.ts";

/** A load that works only during calls of `work`, and measures its own rate. */
export interface Worker {
  /** Works for `ms` milliseconds, and returns the steps or rows per second. */
  readonly work: (ms: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** How long each worker works before its rates count, and the length and number of the slices that count. */
const warmMs = 1_500;
const sliceMs = 150;
const slices = 12;

/**
 * Returns a worker that runs `concurrency` executions of 10 steps side by side, with one commit per step. Between slices the steps wait
 * at a gate.
 */
export function durableSteps(store: SnapshotStore, concurrency: number): Worker {
  let steps = 0;
  let over = false;
  let gate = Promise.withResolvers<void>();
  const executor = async (): Promise<{ data: object }> => {
    await gate.promise;
    steps++;
    return { data: { ok: true } };
  };
  const runtime = createRuntime({ store, workflows: [line(10)], nodeDefinitions: { work: { executor } } });
  const oneAfterTheOther = async (): Promise<void> => {
    while (!over) {
      const run = await runtime.start("line-10");
      await run.result();
    }
  };
  const workers = Array.from({ length: concurrency }, oneAfterTheOther);
  return {
    async work(ms) {
      const before = steps;
      const from = performance.now();
      gate.resolve();
      await sleep(ms);
      gate = Promise.withResolvers();
      const rate = ((steps - before) / (performance.now() - from)) * 1000;
      await sleep(20); // steps that passed the gate before it closed come to an end
      return rate;
    },
    async close() {
      over = true;
      gate.resolve();
      await Promise.all(workers);
      await runtime.close();
    },
  };
}

/** Returns a worker that calls `write` in a loop; `write` returns the number of rows that it wrote. */
export function rawWrites(write: () => Promise<number>): Worker {
  return {
    async work(ms) {
      let rows = 0;
      const from = performance.now();
      while (performance.now() - from < ms) rows += await write();
      return (rows / (performance.now() - from)) * 1000;
    },
    close: async () => undefined,
  };
}

/**
 * Runs the workers alternately in one process, because the speed of a shared disk varies over time. Returns the median rate of each
 * worker.
 */
export async function byTurns(workers: readonly Worker[]): Promise<readonly number[]> {
  const rates: number[][] = workers.map(() => []);
  for (const worker of workers) await worker.work(warmMs);
  for (let i = 0; i < slices; i++) {
    for (const [index, worker] of workers.entries()) rates[index]!.push(await worker.work(sliceMs));
  }
  for (const worker of workers) await worker.close();
  return rates.map((all) => spread(all).median);
}
