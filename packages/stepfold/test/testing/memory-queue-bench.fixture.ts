import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { createBroker } from "../../src/queues/memory/broker.ts";
import { queueOn } from "../../src/queues/memory/memory-queue.ts";
import type { QueueBench } from "../../src/testing/queue-contract-case.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";

/** A bench on an empty queue in memory whose clock moves only by `advance`. */
export function memoryQueueBench(): QueueBench {
  const environment = virtualEnvironment();
  const broker = createBroker(environment, 500);
  const handles = new Map<WorkQueue, ReturnType<typeof queueOn>>();
  const open = (): WorkQueue => {
    const handle = queueOn(broker);
    handles.set(handle.queue, handle);
    return handle.queue;
  };
  let last: Promise<void> = Promise.resolve();
  return {
    queue: open(),
    open: async () => open(),
    // the calls run one after the other, because a handler and its case may both let time pass
    advance(durationMs) {
      last = last.then(() => environment.advance(durationMs));
      return last;
    },
    leaseMs: 1_000,
    patienceMs: 1_000,
    noticeMs: 1_500,
    kill: async (queue) => handles.get(queue)?.cut(),
  };
}
