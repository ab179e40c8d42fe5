import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Delivery, WorkQueue } from "../../../ports/work-queue.ts";
import { alteredQueue, type BrokenQueue, byHandle, draining, handling } from "./broken-queue.ts";

/** A lease that never ends in a contract case. */
const noLease = 2 ** 40;

/** Mistakes in `consume`, `drain` and `close`. */
export const brokenQueueConsumers: readonly BrokenQueue[] = [
  {
    name: "takes more than it was asked to",
    caughtBy: "concurrency: as many are under way as were asked for, and never more",
    breaks: byHandle((queue) => ({ consume: (handle, options) => queue.consume(handle, { ...options, concurrency: 50 }) })),
  },
  {
    name: "takes one after the other",
    caughtBy: "concurrency: as many are under way as were asked for, and never more",
    breaks: byHandle((queue) => ({ consume: (handle, options) => queue.consume(handle, { ...options, concurrency: 1 }) })),
  },
  {
    name: "waits for a whole batch before it takes the next",
    caughtBy: "concurrency: one that takes long does not hold up the others",
    breaks: handling(batched),
  },
  {
    name: "gives all messages to the first consumer",
    caughtBy: "concurrency: two consumers share the messages",
    breaks() {
      let isTaken = false;
      return (queue) =>
        alteredQueue(queue, {
          async consume(handle, options) {
            const isFirst = !isTaken;
            isTaken = true;
            return isFirst ? queue.consume(handle, options) : { drain: async () => undefined };
          },
        });
    },
  },
  {
    name: "fetches ahead for a consumer that is busy",
    caughtBy: "concurrency: a consumer that is busy for ever leaves the others what is there",
    breaks: byHandle((queue) => ({
      consume: (handle, options) => queue.consume(oneByOne(handle), { ...options, leaseMs: noLease, concurrency: 10 }),
    })),
  },
  {
    name: "takes any concurrency",
    caughtBy: "concurrency: what is no whole number from 1 on is refused, and so is such a lease",
    breaks: byHandle((queue) => ({ consume: (handle, options) => queue.consume(handle, { ...options, concurrency: 1 }) })),
  },
  {
    name: "acknowledges before the handler has begun",
    caughtBy: "lease: what a consumer had when it died comes to another",
    breaks: handling((handle) => async (delivery) => {
      void handle(delivery).catch(() => undefined);
    }),
  },
  {
    name: "never acknowledges",
    caughtBy: "acknowledge: what was handled does not come again",
    breaks: handling((handle) => async (delivery) => {
      await handle(delivery);
      await new Promise(() => undefined);
    }),
  },
  {
    name: "drops what a handler rejects",
    caughtBy: "acknowledge: a message whose handler rejects comes again, and the problem is told",
    breaks: byHandle((queue) => ({
      consume: (handle, options) => queue.consume((delivery) => handle(delivery).catch(options.onProblem), options),
    })),
  },
  {
    name: "tells nobody that a handler failed",
    caughtBy: "acknowledge: a message whose handler rejects comes again, and the problem is told",
    breaks: byHandle((queue) => ({ consume: (handle, options) => queue.consume(handle, { ...options, onProblem: () => undefined }) })),
  },
  {
    name: "drops a message whose handler throws at once",
    caughtBy: "acknowledge: a handler that throws before it has returned a promise rejects, too",
    breaks: handling((handle) => (delivery) => {
      try {
        return handle(delivery);
      } catch {
        return Promise.resolve();
      }
    }),
  },
  {
    name: "keeps what failed for the consumer that it failed at",
    caughtBy: "acknowledge: a rejected message comes to another consumer, if the first is gone",
    breaks: keepingFailed,
  },
  {
    name: "gives up after three failures",
    caughtBy: "acknowledge: a message is not given up, however often it fails",
    breaks: givingUp,
  },
  {
    name: "stops when a handler fails",
    caughtBy: "acknowledge: what one handler throws does not keep others from their messages",
    breaks: stoppingAtFailure,
  },
  {
    name: "leaves the dead what they had",
    caughtBy: "lease: what a consumer had when it died comes to another",
    breaks: byHandle((queue) => ({ consume: (handle, options) => queue.consume(handle, { ...options, leaseMs: noLease }) })),
  },
  {
    name: "gives what is being handled to another before the lease is over",
    caughtBy: "lease: what a living consumer handles does not come to another",
    breaks: byHandle((queue) => ({ consume: (handle, options) => queue.consume(handle, { ...options, leaseMs: options.leaseMs / 4 }) })),
  },
  {
    name: "gives a message up that two consumers died with",
    caughtBy: "lease: a message is not given up, however many consumers die with it",
    breaks: givingUp,
  },
  {
    name: "has an extend that does nothing",
    caughtBy: "lease: extend keeps a message for as long as it is called",
    breaks: handling(
      (handle) =>
        ({ workflowId }) =>
          handle({ workflowId, extend: async () => undefined }),
    ),
  },
  {
    name: "sends again what is extended too late",
    caughtBy: "lease: extend of what was handled does no harm",
    breaks: handling((handle, queue) => async (delivery) => {
      let isHandled = false;
      const extend = (): Promise<void> => (isHandled ? queue.send([{ workflowId: delivery.workflowId }]) : delivery.extend());
      await handle({ workflowId: delivery.workflowId, extend });
      isHandled = true;
    }),
  },
  {
    name: "goes on after a drain",
    caughtBy: "drain: takes nothing more, and others get it",
    breaks: draining(() => ({ drain: async () => undefined })),
  },
  {
    name: "does not wait for those under way when it drains",
    caughtBy: "drain: waits for those under way, and these are acknowledged",
    breaks: draining((consumer) => ({
      async drain() {
        void consumer.drain();
      },
    })),
  },
  {
    name: "keeps what it has fetched ahead when it drains",
    caughtBy: "drain: leaves the rest to others at once",
    breaks: byHandle((queue) => ({
      consume: (handle, options) => queue.consume(oneByOne(handle), { ...options, leaseMs: noLease, concurrency: 50 }),
    })),
  },
  {
    name: "cannot be drained twice",
    caughtBy: "drain: twice, and while it is being drained, is no mistake",
    breaks: draining((consumer) => {
      let isDrained = false;
      return {
        async drain() {
          if (isDrained) throw new StepfoldError("QUEUE_REJECTED", { queue: "broken", reason: "it was drained" });
          isDrained = true;
          await consumer.drain();
        },
      };
    }),
  },
  {
    name: "drains all consumers of a handle together",
    caughtBy: "drain: of one consumer leaves another of the same handle at work",
    breaks: draining((_, queue) => ({ drain: () => queue.close() })),
  },
  {
    name: "can be used after it was closed",
    caughtBy: "close: twice is no mistake, and any other call afterwards is refused",
    breaks: byHandle(() => ({ close: async () => undefined })),
  },
  {
    name: "leaves its consumers at work when it is closed",
    caughtBy: "close: drains the consumers",
    breaks: byHandle(() => ({ close: async () => undefined })),
  },
  {
    name: "closes the queue for everybody",
    caughtBy: "close: leaves other handles at work",
    breaks() {
      const handles: WorkQueue[] = [];
      return (queue) => {
        handles.push(queue);
        return alteredQueue(queue, {
          async close() {
            await Promise.all(handles.map((handle) => handle.close()));
          },
        });
      };
    },
  },
];

type Handle = (delivery: Delivery) => Promise<void>;

/** Makes a handler that begins a message only when the one before has ended. */
function oneByOne(handle: Handle): Handle {
  let last: Promise<unknown> = Promise.resolve();
  return (delivery) => {
    const mine = last.then(() => handle(delivery));
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Makes a handler that settles only when all messages of its batch have been handled. */
function batched(handle: Handle): Handle {
  let batch: Promise<void>[] = [];
  return async (delivery) => {
    const mine = handle(delivery);
    batch.push(mine);
    const all = batch;
    if (batch.length >= 2) batch = [];
    await mine;
    while (all.length < 2) await Promise.all([...all, new Promise(() => undefined)]);
    await Promise.all(all);
  };
}

function keepingFailed(): (queue: WorkQueue) => WorkQueue {
  const failedAt = new Map<string, Handle>();
  return (queue) =>
    alteredQueue(queue, {
      consume: (handle, options) =>
        queue.consume(async (delivery) => {
          const first = failedAt.get(delivery.workflowId);
          if (first && first !== handle) return;
          failedAt.set(delivery.workflowId, handle);
          await handle(delivery);
        }, options),
    });
}

function givingUp(): (queue: WorkQueue) => WorkQueue {
  const begun = new Map<string, number>();
  return (queue) =>
    alteredQueue(queue, {
      consume: (handle, options) =>
        queue.consume(async (delivery) => {
          const times = (begun.get(delivery.workflowId) ?? 0) + 1;
          begun.set(delivery.workflowId, times);
          if (times <= 3) await handle(delivery);
        }, options),
    });
}

function stoppingAtFailure(): (queue: WorkQueue) => WorkQueue {
  return (queue) =>
    alteredQueue(queue, {
      async consume(handle, options) {
        const consumer = await queue.consume(
          (delivery) =>
            handle(delivery).catch((error: unknown) => {
              void consumer.drain();
              throw error;
            }),
          options,
        );
        return consumer;
      },
    });
}
