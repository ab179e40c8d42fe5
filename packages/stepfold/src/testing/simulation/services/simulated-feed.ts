import type { EventFeed, FeedSubscription, ListenOptions, Notice } from "../../../ports/event-feed.ts";
import type { Machine } from "../machines/machine.ts";
import type { Scheduler } from "../machines/scheduler.ts";
import type { Random } from "../random.ts";

interface Hearer {
  readonly machine: Machine;
  readonly hear: (notices: readonly Notice[]) => void;
  readonly onEnd: ListenOptions["onEnd"];
}

interface Around {
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** The longest time of a notice on its way, in milliseconds. */
const maxLatencyMs = 50;
/** The share of notices that are lost, and the share of the others that come twice. */
const lostShare = 0.2;
const doubledShare = 0.2;
/** The share of notices at which the connection of a listener is lost. */
const cutShare = 0.02;

/**
 * A feed that does no more than its port promises, which is nothing: notices are lost, come twice, late or in any order, and connections
 * end. All this must change nothing but the time at which changes are seen.
 */
export class SimulatedFeed {
  readonly #around: Around;
  readonly #hearers = new Set<Hearer>();

  constructor(around: Around) {
    this.#around = around;
  }

  /** The feed as one process sees it. */
  seenBy(machine: Machine): EventFeed {
    const own = new Set<Hearer>();
    const forget = (hearer: Hearer): void => {
      this.#hearers.delete(hearer);
      own.delete(hearer);
    };
    return {
      name: "simulated",
      features: { multiProcess: true },
      publish: async (notices) => this.#publish(notices, forget),
      listen: async (hear, { onEnd }): Promise<FeedSubscription> => {
        const hearer = { machine, hear, onEnd };
        this.#hearers.add(hearer);
        own.add(hearer);
        return { close: async () => forget(hearer) };
      },
      close: async () => own.forEach(forget),
    };
  }

  #publish(notices: readonly Notice[], forget: (hearer: Hearer) => void): void {
    const { random, scheduler } = this.#around;
    for (const hearer of this.#hearers) {
      if (random.chance(cutShare)) {
        forget(hearer);
        if (hearer.machine.isAlive) hearer.onEnd(new RangeError("the connection was lost"));
        continue;
      }
      const times = random.chance(lostShare) ? 0 : random.chance(doubledShare) ? 2 : 1;
      for (let i = 0; i < times; i++)
        scheduler.after(random.between(0, maxLatencyMs), () => {
          if (hearer.machine.isAlive && this.#hearers.has(hearer)) hearer.hear(notices);
        });
    }
  }
}
