import type { EpochMs } from "../../../core/values/json.ts";
import type { Environment } from "../../../ports/environment.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";

/** The store is asked again after this time: its clock may have been set, or another server may answer now. */
const freshForMs = 10_000;
/** If the wall clock and the monotonic clock have moved apart by more than this, the wall clock was set, or the machine slept. */
const toleranceMs = 50;

/** What the store's clock showed, and what the clocks of this machine showed at that moment. */
interface Reading {
  readonly storeMs: EpochMs;
  readonly monotonicMs: number;
  readonly wallMs: EpochMs;
}

/**
 * The store's clock, without a call for each reading: the last reading, plus the time that has passed since on the
 * monotonic clock. It is behind by as long as the answer took and never ahead, so that nothing ends too early.
 */
export class StoreClock {
  readonly #store: Pick<SnapshotStore, "now">;
  readonly #environment: Environment;
  #last: Reading | null = null;
  #asking: Promise<void> | null = null;

  constructor(store: Pick<SnapshotStore, "now">, environment: Environment) {
    this.#store = store;
    this.#environment = environment;
  }

  /** Returns the store's time. Asks the store if the last reading is too old. @throws what the store rejects with */
  async now(): Promise<EpochMs> {
    if (!this.#isFresh()) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
      });
      await this.#asking;
    }
    return this.estimate();
  }

  /** Estimates the store's time without asking, for hints: from the last reading, or from the clock of this machine if there is none. */
  estimate(): EpochMs {
    if (!this.#last) return this.#environment.now();
    return this.#last.storeMs + Math.floor(this.#environment.monotonicMs() - this.#last.monotonicMs);
  }

  /** Takes a reading that came with another answer of the store. */
  observe(storeMs: EpochMs): void {
    // a reading that is behind the estimate took longer on its way, so it is less exact
    if (this.#isFresh() && storeMs <= this.estimate()) return;
    this.#last = { storeMs, monotonicMs: this.#environment.monotonicMs(), wallMs: this.#environment.now() };
  }

  async #ask(): Promise<void> {
    this.observe(await this.#store.now());
  }

  #isFresh(): boolean {
    if (!this.#last) return false;
    const passedMs = this.#environment.monotonicMs() - this.#last.monotonicMs;
    const wallPassedMs = this.#environment.now() - this.#last.wallMs;
    return passedMs < freshForMs && Math.abs(wallPassedMs - passedMs) < toleranceMs;
  }
}
