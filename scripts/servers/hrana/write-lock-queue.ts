/**
 * A queue of statements that found the database locked by a transaction of another stream. They wait here and not in SQLite's busy
 * handler, which would block the thread on which the other transaction has to commit.
 */
export class WriteLockQueue {
  readonly #waiting = new Set<(free: boolean) => void>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls `probe` after each release until it does not throw, and then runs `work` at once. At the timeout it throws the error of
   * `probe`.
   */
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

  /** Tells all waiting statements to try again, because a transaction has ended. */
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
