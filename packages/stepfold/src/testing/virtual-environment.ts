import type { EpochMs } from "../core/values/json.ts";
import type { Environment } from "../ports/environment.ts";

interface Timer {
  readonly at: EpochMs;
  readonly callback: () => void;
}

/** An Environment whose time stands still until you move it. */
export interface VirtualEnvironment extends Environment {
  /** Moves the time; fires what comes due in between, in order, and lets what follows from it run. */
  advance(ms: number): Promise<void>;
  /** Lets everything run that needs no time to pass. */
  settle(): Promise<void>;
}

/** How often pending promises get the floor before they count as waiting for time. */
const rounds = 5;

/**
 * A clock for tests: hours pass in no time, and every run is the same. Ids are counted.
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
    after(delayMs, callback) {
      const timer = { at: now + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    settle,
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let timer = next(until); timer; timer = next(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
        await settle();
      }
      now = until;
    },
  };
}

/** One turn of the event loop: everything that is only a promise away has then run. */
function floor(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
