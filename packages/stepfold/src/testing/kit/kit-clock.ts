import type { EpochMs } from "../../core/values/json.ts";
import type { Environment } from "../../ports/environment.ts";
import type { Activity } from "./activity.ts";

/** A process of a test: what happens in it counts only while it is alive. */
export interface KitProcess {
  isAlive: boolean;
  readonly activity: Activity;
}

interface Timer {
  readonly at: EpochMs;
  readonly isPoll: boolean;
  readonly process: KitProcess;
  readonly callback: () => void;
}

/** The clock of a test, and the timers of its processes. It stands still until it is moved. */
export class KitClock {
  now: EpochMs;
  readonly #startAt: EpochMs;
  readonly #timers = new Set<Timer>();
  #ids = 0;

  constructor(startAt: EpochMs) {
    this.now = startAt;
    this.#startAt = startAt;
  }

  /** Makes what a process sees of the clock. Its timers do not fire once it is dead. */
  environmentOf(process: KitProcess): Environment {
    return {
      now: () => this.now,
      monotonicMs: () => this.now - this.#startAt,
      newId: () => `id-${++this.#ids}`,
      after: (delayMs, callback, { poll: isPoll = false } = {}) => {
        const timer = { at: this.now + Math.max(0, delayMs), isPoll, process, callback };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    };
  }

  /** When the next timer fires, apart from polls. */
  get nextAt(): EpochMs {
    return this.#first()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Fires the first timer that is due, apart from polls. False if none is. */
  fire(): boolean {
    const timer = this.#first();
    if (!timer || timer.at > this.now) return false;
    this.#timers.delete(timer);
    timer.callback();
    return true;
  }

  /** Lets everything that polls look now. */
  poll(): void {
    for (const timer of [...this.#timers]) {
      if (!timer.isPoll || !timer.process.isAlive) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }

  #first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (!timer.process.isAlive) this.#timers.delete(timer);
      else if (!timer.isPoll && (!first || timer.at < first.at)) first = timer;
    }
    return first;
  }
}
