/**
 * Does jobs in batches, one batch after the other for each key. Jobs that are added while a batch is being done are done together
 * in the next one. Jobs of different keys do not wait for each other.
 */
export class Batches<J> {
  readonly #maxJobs: number;
  readonly #waiting = new Map<string, J[]>();
  readonly #inFlight = new Map<string, Promise<void>>();

  /** @param maxJobs the most jobs in one batch */
  constructor(maxJobs: number) {
    this.#maxJobs = maxJobs;
  }

  /**
   * Adds a job to the next batch of its key.
   *
   * @param run does a batch; it must not reject. While jobs of the key wait or are being done, the `run` of the first of them does all
   */
  add(key: string, job: J, run: (jobs: readonly J[]) => Promise<void>): void {
    const waiting = this.#waiting.get(key);
    if (waiting) {
      waiting.push(job);
      return;
    }
    this.#waiting.set(key, [job]);
    void this.#work(key, run);
  }

  /** Returns a promise of the end of the batch that is being done for a key; null if none is. */
  inFlight(key: string): Promise<void> | null {
    return this.#inFlight.get(key) ?? null;
  }

  async #work(key: string, run: (jobs: readonly J[]) => Promise<void>): Promise<void> {
    for (let waiting = this.#waiting.get(key)!; waiting.length > 0; ) {
      const batch = run(waiting.splice(0, this.#maxJobs));
      this.#inFlight.set(key, batch);
      await batch;
    }
    this.#inFlight.delete(key);
    this.#waiting.delete(key);
  }
}
