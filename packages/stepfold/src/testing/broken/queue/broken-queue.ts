import type { Consumer, Delivery, WakeUp, WorkQueue } from "../../../ports/work-queue.ts";

/** A plausible mistake in a queue, which the contract must find. */
export interface BrokenQueue {
  readonly name: string;
  /** Name of a contract case that fails on it. */
  readonly caughtBy: string;
  /** Returns a function that puts the mistake into a handle. It is called once for all handles of one queue. */
  breaks(): (queue: WorkQueue) => WorkQueue;
}

/** Makes a mistake that each handle has on its own. */
export function byHandle(breaks: (queue: WorkQueue) => Partial<WorkQueue>): BrokenQueue["breaks"] {
  return () => (queue) => alteredQueue(queue, breaks(queue));
}

/** Returns the queue with some of its members replaced. */
export function alteredQueue(queue: WorkQueue, changes: Partial<WorkQueue>): WorkQueue {
  return { ...queue, ...changes };
}

/** Makes a queue that sends other messages than it is given. */
export function sending(change: (wakeUps: readonly WakeUp[]) => readonly WakeUp[]): BrokenQueue["breaks"] {
  return byHandle((queue) => ({ send: (wakeUps) => queue.send(change(wakeUps)) }));
}

type Handle = (delivery: Delivery) => Promise<void>;

/** Makes a queue that calls another handler than it is given. */
export function handling(change: (handle: Handle, queue: WorkQueue) => Handle): BrokenQueue["breaks"] {
  return byHandle((queue) => ({ consume: (handle, options) => queue.consume(change(handle, queue), options) }));
}

/** Makes a queue whose consumers drain in another way. */
export function draining(change: (consumer: Consumer, queue: WorkQueue) => Consumer): BrokenQueue["breaks"] {
  return byHandle((queue) => ({ consume: async (handle, options) => change(await queue.consume(handle, options), queue) }));
}
