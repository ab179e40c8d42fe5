import type { Environment } from "../../ports/environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { delayQueue, type QueuedMessage } from "./delay-queue.ts";
import { handleMessage, type MessageHandler } from "./handle-message.ts";

/** What a memory queue needs of its environment. */
export type QueueClock = Pick<Environment, "monotonicMs" | "after">;

/** Holds messages until a consumer has room for them. Several memory queues of one process may share one broker, as if it were a server. */
export interface Broker {
  readonly clock: QueueClock;
  publish(messages: readonly QueuedMessage[]): void;
  subscribe(handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Subscription;
}

/** A consumer of a broker. */
export interface Subscription extends Consumer {
  /**
   * Gets no more messages, as if its process had died. A message that a handler still holds is delivered again when its lease ends, unless
   * the handler settles before.
   */
  cut(): void;
}

interface Subscriber extends MessageHandler {
  /** The number of handlers that have not settled. */
  running: number;
  /** One promise for each message that is neither acknowledged nor given back; it resolves when the message is. */
  readonly held: Set<Promise<void>>;
}

/** @param retryDelayMs how long a message waits after its handler rejected */
export function createBroker(clock: QueueClock, retryDelayMs: number): Broker {
  const queue = delayQueue();
  // in the order in which they get messages: see `dispatch`
  const subscribers: Subscriber[] = [];
  let isScheduled = false;
  let cancelTimer: () => void = () => undefined;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    // in a microtask, so that the sender continues before a message is handled
    queueMicrotask(dispatch);
  };
  const deliver = ({ workflowId }: QueuedMessage, subscriber: Subscriber): void => {
    subscriber.running++;
    const { released, settled } = handleMessage(workflowId, subscriber, clock, retryDelayMs);
    const held = released.then((redeliverMs) => {
      subscriber.held.delete(held);
      if (redeliverMs === null) return;
      queue.add({ workflowId, dueAtMs: clock.monotonicMs() + redeliverMs });
      schedule();
    });
    subscriber.held.add(held);
    void settled.then(() => {
      subscriber.running--;
      schedule();
    });
  };
  const dispatch = (): void => {
    isScheduled = false;
    cancelTimer();
    for (;;) {
      const subscriber = subscribers.find(({ running, concurrency }) => running < concurrency);
      if (!subscriber) return;
      const message = queue.take(clock.monotonicMs());
      if (!message) break;
      // round robin: the subscriber moves to the end
      subscribers.push(...subscribers.splice(subscribers.indexOf(subscriber), 1));
      deliver(message, subscriber);
    }
    const dueAtMs = queue.nextDueAtMs();
    if (dueAtMs !== undefined) cancelTimer = clock.after(Math.max(0, dueAtMs - clock.monotonicMs()), schedule, { background: true });
  };

  return {
    clock,
    publish(messages) {
      for (const message of messages) queue.add(message);
      schedule();
    },
    subscribe(handle, options) {
      const subscriber: Subscriber = { ...options, handle, running: 0, held: new Set() };
      subscribers.push(subscriber);
      schedule();
      return subscriptionOf(subscriber, subscribers);
    },
  };
}

function subscriptionOf(subscriber: Subscriber, subscribers: Subscriber[]): Subscription {
  const cut = (): void => {
    if (subscribers.includes(subscriber)) subscribers.splice(subscribers.indexOf(subscriber), 1);
  };
  return {
    cut,
    async drain() {
      cut();
      while (subscriber.held.size > 0) await Promise.all(subscriber.held);
    },
  };
}
