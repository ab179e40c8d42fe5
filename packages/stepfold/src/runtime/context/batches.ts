/**
 * Jobs by key. Those of one key are done one batch after the other: while a batch is being done, more jobs gather, and are done
 * together next. Jobs of different keys do not wait for each other.
 */
export class Batches<J> {
  readonly #maxJobs: number;
  readonly #waiting = new Map<string, J[]>();
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param maxJobs in one batch */
  constructor(maxJobs: number) {
    this.#maxJobs = maxJobs;
  }

  /** @param run does a batch; it must not reject */
  add(key: string, job: J, run: (jobs: readonly J[]) => Promise<void>): void {
    const waiting = this.#waiting.get(key);
    if (waiting) {
      waiting.push(job);
      return;
    }
    this.#waiting.set(key, [job]);
    void this.#work(key, run);
  }

  /** The end of the batch that is being done for a key; null if none is. */
  underWay(key: string): Promise<void> | null {
    return this.#underWay.get(key) ?? null;
  }

  async #work(key: string, run: (jobs: readonly J[]) => Promise<void>): Promise<void> {
    for (let waiting = this.#waiting.get(key)!; waiting.length > 0; ) {
      const batch = run(waiting.splice(0, this.#maxJobs));
      this.#underWay.set(key, batch);
      await batch;
    }
    this.#underWay.delete(key);
    this.#waiting.delete(key);
  }
}
