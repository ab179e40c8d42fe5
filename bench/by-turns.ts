import type { SnapshotStore } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { line } from "./line.ts";
import { sleep, spread } from "./measure.ts";

/** Works while it is told to; counts what it has done. */
export interface Worker {
  /** Works for some milliseconds; gives how many steps or rows a second. */
  readonly work: (ms: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

const warmMs = 1_500;
const sliceMs = 150;
const slices = 12;

/** Executions of 10 steps, `concurrency` at once, each step committed. They rest inside a step. */
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
      await sleep(20); // what is under way comes to rest
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

/** Writes again and again; `write` gives the number of rows. */
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

/** All in one process, by turns: a disk that others use changes its pace from one moment to the next. Gives the median of each. */
export async function byTurns(workers: readonly Worker[]): Promise<readonly number[]> {
  const rates: number[][] = workers.map(() => []);
  for (const worker of workers) await worker.work(warmMs);
  for (let i = 0; i < slices; i++) {
    for (const [index, worker] of workers.entries()) rates[index]!.push(await worker.work(sliceMs));
  }
  for (const worker of workers) await worker.close();
  return rates.map((all) => spread(all).median);
}
