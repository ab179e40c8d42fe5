import type { Environment } from "../ports/environment.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** An environment whose clock moves only when told, and whose ids count up. */
export class VirtualEnvironment implements Environment {
  #now: number;
  #ids = 0;
  readonly #timers = new Set<Timer>();
  /** Timers asked for, in all. */
  timersMade = 0;

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  /** How many timers are armed. */
  get armed(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#now;
  }

  newId(): string {
    this.#ids++;
    return `id-${this.#ids}`;
  }

  after(delayMs: number, callback: () => void): () => void {
    this.timersMade++;
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves the clock, firing what falls due on the way, in order of time. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settled();
      let next: Timer | undefined;
      for (const timer of this.#timers) if (timer.at <= until && (!next || timer.at < next.at)) next = timer;
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
    await settled();
  }

  /** Sets the clock, without firing anything. */
  set(now: number): void {
    this.#now = now;
  }
}

/** Lets everything run that waits for nothing but other promises. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
