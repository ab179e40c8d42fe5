import type { EpochMs } from "../../core/values/json.ts";
import type { Environment } from "../../ports/environment.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** When schedules begin, by a clock that is right. */
export const beginsAt: EpochMs = Date.UTC(2026, 0, 1);

/**
 * A process, from its start to its end. Once it is dead none of its timers fires and none of its calls comes back, so
 * nothing of it runs any more: what it awaits is never settled.
 */
export class Machine {
  readonly name: string;
  readonly environment: Environment;
  isAlive = true;
  /** Until this time the process is cut off from the network. */
  cutOffUntilMs = 0;
  /** Until this time so many of its calls are never answered: some of its connections have gone silent, and nobody has told it. */
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

  /** Told once when it has ended. */
  set onEnded(listener: () => void) {
    this.#onEnded = listener;
  }

  /** The end, at once. */
  end(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#onEnded();
  }

  /** Resolves after a while; never if it has crashed by then. */
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
