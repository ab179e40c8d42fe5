/**
 * Statements that found the database locked by a transaction of another stream. They wait here and not in SQLite's busy
 * handler: that one blocks the thread on which the other transaction would have to commit.
 */
export class WriteLockQueue {
  readonly #waiting = new Set<(free: boolean) => void>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Tries `probe` after each release until it does not throw, then works at once. Throws what `probe` threw at the timeout. */
  async run<T>(probe: () => unknown, work: () => T): Promise<T> {
    const deadline = performance.now() + this.#timeoutMs;
    for (;;) {
      try {
        probe();
      } catch (error) {
        if (!(await this.#wait(deadline - performance.now()))) throw error;
        continue;
      }
      return work();
    }
  }

  /** A transaction has ended: everybody who waits may try. */
  release(): void {
    for (const resolve of this.#waiting) resolve(true);
  }

  #wait(milliseconds: number): Promise<boolean> {
    if (milliseconds <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = (free: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve(free);
      };
      const timer = setTimeout(done, milliseconds, false).unref();
      this.#waiting.add(done);
    });
  }
}
