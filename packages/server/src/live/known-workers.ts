import { type Environment, type ExecutionSummary, type LiveWorker, type Snapshot, whyNoWorker } from "stepfold";
import type { Runtime } from "stepfold/runtime";

/** The workers are asked for again after this time: their signs of life, with which they tell what they lack, are seconds apart too. */
const maxAgeMs = 2_000;

/** The living workers of a store, as they were a short time ago: all who ask share an answer. */
export class KnownWorkers {
  readonly #runtime: Pick<Runtime, "workers">;
  readonly #environment: Environment;
  #latest: Promise<readonly LiveWorker[]> | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(runtime: Pick<Runtime, "workers">, environment: Environment) {
    this.#runtime = runtime;
    this.#environment = environment;
  }

  /**
   * Says why no living worker can run an execution, as a sentence. Null: nothing is known of that, or it is held or needs none.
   *
   * @param snapshot is called only if nobody holds it
   */
  async whyNone(lease: ExecutionSummary["lease"], storeNow: number, snapshot: () => Snapshot): Promise<string | null> {
    const isHeld = lease !== null && lease.until > storeNow;
    return isHeld ? null : whyNoWorker(snapshot(), () => this.#ask());
  }

  #ask(): Promise<readonly LiveWorker[]> {
    const nowMs = this.#environment.monotonicMs();
    if (this.#latest && nowMs - this.#askedAtMs <= maxAgeMs) return this.#latest;
    const asked = this.#runtime.workers();
    this.#latest = asked;
    this.#askedAtMs = nowMs;
    asked.catch(() => {
      if (this.#latest === asked) this.#latest = null;
    });
    return asked;
  }
}
