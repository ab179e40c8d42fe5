import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { type BullmqQueueClient, type BullmqWorker, bullmqQueue, type MakeBullmqWorker } from "../../src/queues/bullmq/index.ts";
import type { QueueBench } from "../../src/testing/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";

/** Makes queues and workers of BullMQ on one of its backends. */
export interface Backend {
  queue(name: string): BullmqQueueClient & { obliterate(options: { force: true }): Promise<unknown>; close(): Promise<void> };
  worker(name: string): (...args: Parameters<MakeBullmqWorker>) => BullmqWorker & { close(force?: boolean): Promise<void> };
}

let queues = 0;

/** A bench on a new queue. Each handle has its own connections, and `kill` closes the connections of one handle. */
export function bullmqBench({ queue: makeQueue, worker: makeWorker }: Backend): QueueBench & { readonly close: () => Promise<void> } {
  const name = `stepfold-test-${process.pid}-${++queues}-${Math.trunc(performance.timeOrigin % 1e9)}`;
  const ends = new Map<WorkQueue, () => Promise<void>>();
  const open = (): WorkQueue => {
    const client = makeQueue(name);
    const workers: { close(force?: boolean): Promise<void> }[] = [];
    const make: MakeBullmqWorker = (process, options) => {
      const worker = makeWorker(name)(process, options);
      workers.push(worker);
      return worker;
    };
    const handle = bullmqQueue(client, make, { retryDelayMs: 300, durable: true });
    ends.set(handle, async () => {
      await Promise.all(workers.map((worker) => worker.close(true)));
      await client.close();
    });
    return handle;
  };
  return {
    queue: open(),
    open: async () => open(),
    advance: wait,
    leaseMs: 1_000,
    patienceMs: 3_000,
    noticeMs: 6_000,
    kill: async (queue) => ends.get(queue)?.(),
    async close() {
      await Promise.all([...ends.values()].map((end) => end()));
      const last = makeQueue(name);
      await last.obliterate({ force: true });
      await last.close();
    },
  };
}
