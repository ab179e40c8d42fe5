import type { EpochMs } from "../core/values/json.ts";
import type { Environment } from "../ports/environment.ts";

interface Timer {
  at: EpochMs;
  readonly isPoll: boolean;
  /** True for a deadline. It fires also if nothing waits for it any more, so it does not count as something that has happened. */
  readonly isBackground: boolean;
  readonly callback: () => void;
}

/** An `Environment` whose time stands still until you move it. */
export interface VirtualEnvironment extends Environment {
  /**
   * Moves the time forward, fires the timers that become due, in order, and lets everything run that follows from them. While only polls
   * become due for a long time, polls are made less often: each one is late by at most a 64th of that time, and never later than the end.
   * So a month costs some hundred polls.
   */
  advance(ms: number): Promise<void>;
  /** Lets everything run that needs no time to pass. */
  settle(): Promise<void>;
}

/** How many turns of the event loop pending promises get before they count as waiting for time. */
const rounds = 5;

/**
 * Makes an environment with a clock for tests: hours pass at once, and every run is the same. Ids are counted.
 *
 * ```ts
 * const environment = virtualEnvironment();
 * const runtime = createRuntime({ store: memoryStore({ now: environment.now }), workflows, nodeDefinitions, environment });
 * const run = await runtime.start("reminder");
 * await environment.advance(24 * 60 * 60 * 1000);
 * ```
 *
 * @param startAt epoch milliseconds; default 2026-01-01T00:00:00Z
 */
export function virtualEnvironment(startAt: EpochMs = Date.UTC(2026, 0, 1)): VirtualEnvironment {
  let now = startAt;
  let ids = 0;
  const timers = new Set<Timer>();

  const settle = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) await floor();
  };

  const next = (until: EpochMs): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (timer.at <= until && (!first || timer.at < first.at)) first = timer;
    return first;
  };

  return {
    now: () => now,
    monotonicMs: () => now - startAt,
    newId: () => `id-${++ids}`,
    after(delayMs, callback, { poll: isPoll = false, background: isBackground = false } = {}) {
      const timer = { at: now + Math.max(0, delayMs), isPoll, isBackground, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    settle,
    async advance(ms) {
      const until = now + ms;
      await settle();
      const polls = new PollTimes(now, until);
      for (let timer = next(until); timer; timer = next(until)) {
        const at = Math.max(now, timer.at);
        const pollAt = timer.isPoll ? polls.next(at) : at;
        if (pollAt > at) {
          timer.at = pollAt;
          continue;
        }
        timers.delete(timer);
        now = at;
        if (!timer.isPoll && !timer.isBackground) polls.happened(at);
        timer.callback();
        await settle();
      }
      now = until;
    },
  };
}

/** Polls become less frequent by this share of the time in which nothing else has happened. */
const lateShare = 1 / 64;

/** Decides when polls are made while the time moves. All polls that are due by such a moment are made at this moment. */
class PollTimes {
  readonly #until: EpochMs;
  #quietSince: EpochMs;
  #last = Number.NEGATIVE_INFINITY;
  #next: EpochMs;

  constructor(from: EpochMs, until: EpochMs) {
    this.#until = until;
    this.#quietSince = from;
    this.#next = from;
  }

  /** Returns when a poll that is due at this time is made. */
  next(at: EpochMs): EpochMs {
    if (at === this.#last) return at;
    if (at < this.#next) return Math.min(this.#next, this.#until);
    this.#last = at;
    this.#next = at + Math.floor((at - this.#quietSince) * lateShare);
    return at;
  }

  /** Notes that something else than a poll has happened. */
  happened(at: EpochMs): void {
    this.#quietSince = at;
    this.#next = at;
  }
}

/** Waits for one turn of the event loop, in which everything runs that waits only for promises. */
function floor(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
