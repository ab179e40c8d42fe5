import type { Delivery, WakeUp, WorkQueue } from "../../../ports/work-queue.ts";
import { alteredQueue, type BrokenQueue } from "./broken-queue.ts";

/** Mistakes with dedupe keys. Each swallows a wake-up or delivers too many. */
export const brokenQueueDedupe: readonly BrokenQueue[] = [
  {
    name: "never forgets a key",
    caughtBy: "dedupe: a key that was delivered before does not swallow what is sent later",
    breaks: swallowing({ until: "never" }),
  },
  {
    name: "swallows a wake-up while one with its key is being handled",
    caughtBy: "dedupe: a key that is being handled does not swallow what is sent meanwhile",
    breaks: swallowing({ until: "handled" }),
  },
  {
    name: "swallows a wake-up while one with its key is being handled by somebody else",
    caughtBy: "dedupe: a key that is being handled elsewhere does not swallow what is sent meanwhile",
    breaks: swallowing({ until: "handled" }),
  },
  {
    name: "keeps the key of a message that has failed, and drops the message",
    caughtBy: "dedupe: a key whose handler failed does not swallow what is sent later",
    breaks: swallowing({ until: "handled", dropsFailed: true }),
  },
  {
    name: "merges what is due now into a later one",
    caughtBy: "dedupe: what is due now is not put off to a later one with its key, and the later one comes too",
    breaks: swallowing({ until: "delivered", mergesDelays: true }),
  },
  {
    name: "merges a later one into what is due now",
    caughtBy: "dedupe: a later one with the same key is not merged into one that is due now",
    breaks: swallowing({ until: "delivered", mergesDelays: true }),
  },
  {
    name: "sends every message three times to be sure",
    caughtBy: "dedupe: two with one key are one delivery or two",
    breaks: () => (queue) =>
      alteredQueue(queue, {
        send: (wakeUps) => queue.send(wakeUps.flatMap(({ dedupeKey: _, ...wakeUp }) => [wakeUp, wakeUp, wakeUp])),
      }),
  },
  {
    name: "drops both of two with one key",
    caughtBy: "dedupe: two with one key in one call are one delivery or two",
    breaks: () => (queue) =>
      alteredQueue(queue, {
        send: (wakeUps) =>
          queue.send(wakeUps.filter(({ dedupeKey }) => wakeUps.filter((other) => other.dedupeKey === dedupeKey).length === 1)),
      }),
  },
];

interface Swallowing {
  /** When a key is free again. */
  readonly until: "delivered" | "handled" | "never";
  /** Wake-ups with a delay are swallowed too. */
  readonly mergesDelays?: boolean;
  /** A message whose handler fails is dropped. */
  readonly dropsFailed?: boolean;
}

/**
 * Makes a queue that leaves out wake-ups whose key is not free. It uses the id
 * of the execution as the key, because a delivery tells only the id.
 */
function swallowing({ until, mergesDelays = false, dropsFailed = false }: Swallowing): BrokenQueue["breaks"] {
  return () => {
    const taken = new Set<string>();
    const isFree = ({ workflowId, dedupeKey, delayMs = 0 }: WakeUp): boolean => {
      if (dedupeKey === undefined || (delayMs > 0 && !mergesDelays)) return true;
      if (taken.has(workflowId)) return false;
      taken.add(workflowId);
      return true;
    };
    const handled = (handle: (delivery: Delivery) => Promise<void>) => async (delivery: Delivery) => {
      if (until === "delivered") taken.delete(delivery.workflowId);
      try {
        await handle(delivery);
      } catch (error) {
        if (!dropsFailed) throw error;
        options?.onProblem(error);
        return;
      }
      if (until === "handled") taken.delete(delivery.workflowId);
    };
    let options: Parameters<WorkQueue["consume"]>[1] | null = null;
    return (queue) =>
      alteredQueue(queue, {
        send: (wakeUps) => queue.send(wakeUps.filter(isFree).map(({ dedupeKey: _, ...wakeUp }) => wakeUp)),
        consume(handle, given) {
          options = given;
          return queue.consume(handled(handle), given);
        },
      });
  };
}
