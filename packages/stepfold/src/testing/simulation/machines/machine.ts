import type { EpochMs } from "../../../core/values/json.ts";
import type { Environment } from "../../../ports/environment.ts";
import type { Random } from "../random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The time at which every schedule begins, by a clock that is right. */
export const beginsAt: EpochMs = Date.UTC(2026, 0, 1);

/**
 * A process, from its start to its end. Once it is dead, none of its timers fires and none of its calls returns, so none of its code
 * runs any more: whatever it awaits never settles.
 */
export class Machine {
  readonly name: string;
  readonly environment: Environment;
  isAlive = true;
  /** Until this time the process is cut off from the network. */
  cutOffUntilMs = 0;
  /** Until this time, a share of its calls is never answered (`silentShare`): some of its connections are silent, and no error tells it. */
  silentUntilMs = 0;
  silentShare = 0;
  readonly #scheduler: Scheduler;
  #onEnded: () => void = () => undefined;

  /** @param skewMs how far its clock is wrong */
  constructor(name: string, scheduler: Scheduler, random: Random, skewMs: number) {
    this.name = name;
    this.#scheduler = scheduler;
    const bornAtMs = scheduler.nowMs;
    this.environment = {
      now: () => beginsAt + scheduler.nowMs + skewMs,
      monotonicMs: () => scheduler.nowMs - bornAtMs,
      newId: () => `${hex(random)}${hex(random)}`,
      after: (delayMs, callback) => scheduler.after(delayMs, () => this.isAlive && callback()),
    };
  }

  /** Sets the listener that is called once when the process has ended. */
  set onEnded(listener: () => void) {
    this.#onEnded = listener;
  }

  /** Ends the process at once. */
  end(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#onEnded();
  }

  /** Resolves after this time, or never if the process has ended by then. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#scheduler.after(ms, () => this.isAlive && resolve());
    });
  }
}

function hex(random: Random): string {
  return Math.floor(random.next() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
}
