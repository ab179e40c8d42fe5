import type { Consumer, Delivery, WakeUp, WorkQueue } from "../../../ports/work-queue.ts";

/** A plausible mistake in a queue: what a contract must catch. */
export interface BrokenQueue {
  readonly name: string;
  /** Name of a contract case that fails on it. */
  readonly caughtBy: string;
  /** Makes the mistake, once for all handles of one queue. */
  breaks(): (queue: WorkQueue) => WorkQueue;
}

/** A mistake that each handle can make for itself. */
export function byHandle(breaks: (queue: WorkQueue) => Partial<WorkQueue>): BrokenQueue["breaks"] {
  return () => (queue) => alteredQueue(queue, breaks(queue));
}

/** The queue with some methods replaced. */
export function alteredQueue(queue: WorkQueue, changes: Partial<WorkQueue>): WorkQueue {
  return { ...queue, ...changes };
}

/** Other messages than those that were sent. */
export function sending(change: (wakeUps: readonly WakeUp[]) => readonly WakeUp[]): BrokenQueue["breaks"] {
  return byHandle((queue) => ({ send: (wakeUps) => queue.send(change(wakeUps)) }));
}

type Handle = (delivery: Delivery) => Promise<void>;

/** Something else between the queue and the handler. */
export function handling(change: (handle: Handle, queue: WorkQueue) => Handle): BrokenQueue["breaks"] {
  return byHandle((queue) => ({ consume: (handle, options) => queue.consume(change(handle, queue), options) }));
}

/** Another end of a consumer. */
export function draining(change: (consumer: Consumer, queue: WorkQueue) => Consumer): BrokenQueue["breaks"] {
  return byHandle((queue) => ({ consume: async (handle, options) => change(await queue.consume(handle, options), queue) }));
}
