import type { Environment } from "../../src/ports/environment.ts";
import { type VirtualEnvironment as Clock, virtualEnvironment } from "../../src/testing/virtual-environment.ts";

/** The virtual clock of `stepfold/testing`, which also counts timers and can be set like a wall clock. */
export class VirtualEnvironment implements Environment {
  readonly #clock: Clock;
  #shiftMs = 0;
  /** The number of timers that were ever requested. */
  timersMade = 0;
  /** The number of timers that have neither fired nor been cancelled. */
  armed = 0;

  constructor(now = 1_000_000) {
    this.#clock = virtualEnvironment(now);
  }

  now(): number {
    return this.#clock.now() + this.#shiftMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  newId(): string {
    return this.#clock.newId();
  }

  after(delayMs: number, callback: () => void): () => void {
    this.timersMade++;
    this.armed++;
    let over = false;
    const end = (): void => {
      if (!over) this.armed--;
      over = true;
    };
    const cancel = this.#clock.after(delayMs, () => {
      end();
      callback();
    });
    return () => {
      end();
      cancel();
    };
  }

  /** Moves the time forward and fires the timers that become due, in order. */
  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms);
  }

  /** Sets the wall clock, as an administrator might while a process runs; no timer fires because of it. */
  set(now: number): void {
    this.#shiftMs = now - this.#clock.now();
  }
}

/** Waits until all callbacks have run that wait only for promises. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
