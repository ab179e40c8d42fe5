import type { ClaimedExecution } from "./load-budget.ts";
import type { Slot } from "./slots.ts";
import type { TimeSlice } from "./time-slice.ts";

/** A claimed execution, and the slot it runs in. */
export interface ClaimedWork extends ClaimedExecution {
  readonly slot: Slot;
  /** The time slice in which the execution runs. Absent: it runs until nothing is due, or until the worker closes. */
  readonly slice?: TimeSlice | undefined;
}

/** `unclaimed`: an execution is due in the store, and no slot was free to claim it. */
export type InboxItem = ClaimedWork | "unclaimed";

/**
 * Passes work to the dispatcher of this process. The work comes from the poller, from the queue, or from a start or a
 * command of this process (also one that delivers a message). These sources know the inbox, but not the dispatcher.
 */
export class Inbox {
  #consume: (item: InboxItem) => void = () => undefined;

  /** Sets the consumer, of which there is one. It is called at once for each item that is put in from now on. */
  consume(consume: (item: InboxItem) => void): void {
    this.#consume = consume;
  }

  put(item: InboxItem): void {
    this.#consume(item);
  }
}
