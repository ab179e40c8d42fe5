/**
 * Where a claimed execution comes from. `local`: started, made due, advanced or swept by this process. `queued`: named by a message of the
 * queue. `polled`: found by polling the store.
 */
export type SlotOrigin = "local" | "queued" | "polled";

/** Room for one running execution. */
export interface Slot {
  readonly origin: SlotOrigin;
  /** Resolves when the slot is free again. */
  readonly freed: Promise<void>;
  /** Safe to call twice. */
  free(): void;
}

/** The most executions that may run at once: in all, and of each origin. */
export interface SlotShares {
  readonly all: number;
  readonly local: number;
  readonly queued: number;
  readonly polled: number;
}

/** The part of the slots that local and polled executions each leave to the other; with a queue, the share of local executions. */
const keptPart = 0.1;
/** With a queue, the share of polled executions. Polling finds those of a process that died, which others should take over at once. */
const polledPart = 0.3;

/**
 * Returns shares that leave room for every origin, so that many executions of one origin do not hold up those of another. For
 * example, timers still run while more executions are started here than can run.
 *
 * A queue cannot be told to wait for a slot, so with a queue the shares do not overlap. Then there are at least two slots:
 * an execution whose message was lost must not wait until the queue is empty. With fewer than ten slots local executions have no share:
 * they come back as messages of the queue.
 */
export function sharesOf(slots: number, hasQueue: boolean): SlotShares {
  if (hasQueue) {
    const all = Math.max(2, slots);
    const local = Math.floor(all * keptPart);
    const polled = Math.max(1, Math.floor(all * polledPart));
    return { all, local, polled, queued: all - local - polled };
  }
  const kept = slots > 1 ? Math.ceil(slots * keptPart) : 0;
  return { all: slots, local: slots - kept, polled: slots - kept, queued: 0 };
}

const noShares: SlotShares = { all: 0, local: 0, queued: 0, polled: 0 };

/** Counts the slots that are taken. Before `open` there are no slots. */
export class Slots {
  #shares: SlotShares = noShares;
  readonly #taken: Record<SlotOrigin, number> = { local: 0, queued: 0, polled: 0 };

  get isOpen(): boolean {
    return this.#shares !== noShares;
  }

  /** How many executions may run here at once. */
  get all(): number {
    return this.#shares.all;
  }

  open(shares: SlotShares): void {
    this.#shares = shares;
  }

  /** Takes the free slots away. Slots that are taken stay taken until they are freed. */
  close(): void {
    this.#shares = noShares;
  }

  /** How many more executions of an origin may run; may be below zero, because a claimed execution always runs. */
  room(origin: SlotOrigin): number {
    const { local, queued, polled } = this.#taken;
    return Math.min(this.#shares[origin] - this.#taken[origin], this.#shares.all - local - queued - polled);
  }

  /** Whether enough slots are free to make a claim worthwhile: a quarter of the share, or any if no execution of this origin runs. */
  isRoomy(origin: SlotOrigin): boolean {
    const room = this.room(origin);
    return room > 0 && (room >= this.#shares[origin] / 4 || this.#taken[origin] === 0);
  }

  /** Takes a slot for an execution that is claimed already, even if none is free. */
  take(origin: SlotOrigin): Slot {
    this.#taken[origin]++;
    let isTaken = true;
    let resolve = (): void => undefined;
    const freed = new Promise<void>((done) => {
      resolve = done;
    });
    const free = (): void => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken[origin]--;
      resolve();
    };
    return { origin, freed, free };
  }

  /** Takes a slot, or gives null if none is free. */
  tryTake(origin: SlotOrigin): Slot | null {
    return this.room(origin) > 0 ? this.take(origin) : null;
  }
}
