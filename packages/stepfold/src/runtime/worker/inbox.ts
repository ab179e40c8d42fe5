import type { ClaimedExecution } from "./load-budget.ts";
import type { Slot } from "./slots.ts";
import type { TimeSlice } from "./time-slice.ts";

/** A claimed execution, and the slot it runs in. */
export interface ClaimedWork extends ClaimedExecution {
  readonly slot: Slot;
  /** The time that it has. Absent: as long as this process works. */
  readonly slice?: TimeSlice | undefined;
}

/** `unclaimed`: an execution is due in the store, and no slot was free to claim it. */
export type InboxItem = ClaimedWork | "unclaimed";

/**
 * Takes work to the dispatcher of this process, wherever it comes from: the poller, the queue, a start or a command made
 * here. They know the inbox and not the dispatcher.
 */
export class Inbox {
  #consume: (item: InboxItem) => void = () => undefined;

  /** What is put in from now on goes to `consume`, at once. There is one consumer. */
  consume(consume: (item: InboxItem) => void): void {
    this.#consume = consume;
  }

  put(item: InboxItem): void {
    this.#consume(item);
  }
}
