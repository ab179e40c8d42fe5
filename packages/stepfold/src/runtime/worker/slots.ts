/** How an execution came to be driven here: begun or answered in this process, told of by a queue, or found in the store. */
export type Origin = "here" | "told" | "found";

/** How many executions may be driven at once, of each origin and of all. */
export interface Shares {
  readonly all: number;
  readonly here: number;
  readonly told: number;
  readonly found: number;
}

const part = 0.1;
/** With a queue: what a process that died had in its hands is taken over by those that are left, at once if they can. */
const partOfFound = 0.3;

/**
 * Shares that leave room for every origin, so that no crowd of one holds up the others: timers and the executions of processes
 * that died come to be driven although more is begun here than can be driven, and the other way round.
 *
 * A queue cannot be told to wait for a place, so with one the shares do not overlap. Then there are at least two: what the queue
 * has missed must not wait until it is empty.
 */
export function sharesOf(places: number, hasQueue: boolean): Shares {
  if (hasQueue) {
    const all = Math.max(2, places);
    const here = Math.floor(all * part);
    const found = Math.max(1, Math.floor(all * partOfFound));
    return { all, here, found, told: all - here - found };
  }
  const kept = places > 1 ? Math.ceil(places * part) : 0;
  return { all: places, here: places - kept, found: places - kept, told: 0 };
}

/** None at all. */
export const noShares: Shares = { all: 0, here: 0, told: 0, found: 0 };

/** Who has which place. */
export class Places {
  /** None while no work is done. */
  shares: Shares = noShares;
  readonly #taken: Record<Origin, number> = { here: 0, told: 0, found: 0 };

  /** How many more of an origin there is room for; may be less than none, because what is claimed already is driven in any case. */
  room(origin: Origin): number {
    const { here, told, found } = this.#taken;
    return Math.min(this.shares[origin] - this.#taken[origin], this.shares.all - here - told - found);
  }

  /** Whether there is room for so many that it pays to look for them: a quarter, or all that others leave. */
  isRoomy(origin: Origin): boolean {
    const room = this.room(origin);
    return room > 0 && (room >= this.shares[origin] / 4 || this.#taken[origin] === 0);
  }

  take(origin: Origin): void {
    this.#taken[origin]++;
  }

  leave(origin: Origin): void {
    this.#taken[origin]--;
  }
}
