import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { WorkQueue } from "../../../ports/work-queue.ts";
import { alteredQueue, type BrokenQueue, byHandle, handling, sending } from "./broken-queue.ts";

/** Mistakes in `send`: which messages are accepted, when they come, and which are swallowed. */
export const brokenQueueSends: readonly BrokenQueue[] = [
  {
    name: "loses the last of what is sent together",
    caughtBy: "send: what was sent is delivered, to a consumer that was there",
    breaks: sending((wakeUps) => (wakeUps.length > 1 ? wakeUps.slice(0, -1) : wakeUps)),
  },
  {
    name: "tells only those who listen, as a broadcast does",
    caughtBy: "send: what was sent is delivered, to a consumer that comes later",
    breaks() {
      let listeners = 0;
      return (queue) =>
        alteredQueue(queue, {
          send: async (wakeUps) => (listeners > 0 ? queue.send(wakeUps) : undefined),
          async consume(handle, options) {
            listeners++;
            return queue.consume(handle, options);
          },
        });
    },
  },
  {
    name: "keeps what it is sent to itself",
    caughtBy: "send: what one handle sent is delivered to another",
    breaks: () => (queue) => {
      const own = new Set<string>();
      return alteredQueue(queue, {
        async send(wakeUps) {
          for (const { workflowId } of wakeUps) own.add(workflowId);
          await queue.send(wakeUps);
        },
        consume: (handle, options) =>
          queue.consume(async (delivery) => (own.has(delivery.workflowId) ? handle(delivery) : undefined), options),
      });
    },
  },
  {
    name: "takes an empty list for a mistake",
    caughtBy: "send: nothing is no mistake",
    breaks: byHandle((queue) => ({
      async send(wakeUps) {
        if (wakeUps.length === 0) throw new StepfoldError("QUEUE_REJECTED", { queue: "broken", reason: "nothing to send" });
        await queue.send(wakeUps);
      },
    })),
  },
  {
    name: "has room for a hundred messages in one call",
    caughtBy: "send: a thousand messages all arrive",
    breaks: sending((wakeUps) => wakeUps.slice(0, 100)),
  },
  {
    name: "splits ids at a colon",
    caughtBy: "send: ids of any kind arrive as they are",
    breaks: sending((wakeUps) => wakeUps.map((wakeUp) => ({ ...wakeUp, workflowId: wakeUp.workflowId.split(":")[0]! }))),
  },
  {
    name: "takes an id of digits for a number",
    caughtBy: "send: ids of any kind arrive as they are",
    breaks: sending((wakeUps) =>
      wakeUps.map((wakeUp) => (/^\d+$/.test(wakeUp.workflowId) ? { ...wakeUp, workflowId: String(Number(wakeUp.workflowId)) } : wakeUp)),
    ),
  },
  {
    name: "tells more than the id",
    caughtBy: "send: a message holds the id and nothing else",
    breaks: handling((handle) => (delivery) => handle(Object.assign({ input: { secret: 1 } }, delivery))),
  },
  {
    name: "takes the id of the execution for a key",
    caughtBy: "send: messages without a key are each delivered",
    breaks: sending((wakeUps) => wakeUps.map((wakeUp) => ({ dedupeKey: wakeUp.workflowId, ...wakeUp }))),
  },
  {
    name: "ignores the delay",
    caughtBy: "delay: a message does not come before its time, and comes then",
    breaks: sending((wakeUps) => wakeUps.map(({ delayMs: _, ...wakeUp }) => wakeUp)),
  },
  {
    name: "takes milliseconds for seconds",
    caughtBy: "delay: a message does not come before its time, and comes then",
    breaks: sending((wakeUps) => wakeUps.map((wakeUp) => ({ ...wakeUp, delayMs: (wakeUp.delayMs ?? 0) * 1000 }))),
  },
  {
    name: "loses what is to come later",
    caughtBy: "delay: a message does not come before its time, and comes then",
    breaks: sending((wakeUps) => wakeUps.filter(({ delayMs = 0 }) => delayMs <= 0)),
  },
  {
    name: "lets a message wait for those that were sent before it",
    caughtBy: "delay: what is due is not held up by what is not",
    breaks() {
      let longestMs = 0;
      return (queue) =>
        alteredQueue(queue, {
          send: (wakeUps) =>
            queue.send(
              wakeUps.map((wakeUp) => {
                longestMs = Math.max(longestMs, wakeUp.delayMs ?? 0);
                return { ...wakeUp, delayMs: longestMs };
              }),
            ),
        });
    },
  },
  {
    name: "keeps what is to come later in the memory of who sent it",
    caughtBy: "delay: a message that became due while nobody was there is not lost",
    breaks: () => (queue) => {
      let isListening = false;
      return alteredQueue(queue, {
        send: (wakeUps) => queue.send(wakeUps.filter(({ delayMs = 0 }) => delayMs <= 0 || isListening)),
        consume(handle, options) {
          isListening = true;
          return queue.consume(handle, options);
        },
      });
    },
  },
  {
    name: "refuses a delay that is over",
    caughtBy: "delay: what is in the past is due now",
    breaks: byHandle((queue) => ({
      async send(wakeUps) {
        if (wakeUps.some(({ delayMs = 0 }) => delayMs < 0)) throw new StepfoldError("QUEUE_REJECTED", { queue: "broken", reason: "delay" });
        await queue.send(wakeUps);
      },
    })),
  },
  {
    name: "takes what is no number for no delay",
    caughtBy: "delay: what is no number is refused, and nothing of the list is sent",
    breaks: sending((wakeUps) => wakeUps.map((wakeUp) => ({ ...wakeUp, delayMs: wakeUp.delayMs || 0 }))),
  },
  {
    name: "fires at once where a delay does not fit into 32 bits",
    caughtBy: "delay: months ahead are taken, and do not come at once",
    breaks: sending((wakeUps) =>
      wakeUps.map((wakeUp) => ({ ...wakeUp, delayMs: (wakeUp.delayMs ?? 0) > 2 ** 31 - 1 ? 1 : (wakeUp.delayMs ?? 0) })),
    ),
  },
  {
    name: "counts a delay in nanoseconds of 64 bits, and fires at once where it does not fit",
    caughtBy: "delay: a number beyond every clock is taken, and does not come at once",
    breaks: sending((wakeUps) =>
      wakeUps.map((wakeUp) => ({ ...wakeUp, delayMs: (wakeUp.delayMs ?? 0) * 1e6 >= 2 ** 63 ? 0 : (wakeUp.delayMs ?? 0) })),
    ),
  },
  {
    name: "takes a longer delay than it can for none",
    caughtBy: "delay: one that is too long is shortened, and does not come at once",
    breaks: () => (queue) => limited(queue, 15 * 60_000, 0),
  },
];

function limited(queue: WorkQueue, maxDelayMs: number, insteadMs: number): WorkQueue {
  return alteredQueue(queue, {
    features: { ...queue.features, maxDelayMs },
    send: (wakeUps) =>
      queue.send(wakeUps.map((wakeUp) => ({ ...wakeUp, delayMs: (wakeUp.delayMs ?? 0) > maxDelayMs ? insteadMs : (wakeUp.delayMs ?? 0) }))),
  });
}
