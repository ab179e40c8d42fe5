import type { EpochMs } from "../../core/values/json.ts";
import type { Environment } from "../../ports/environment.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** So long the time is reckoned from what the store said; then it is asked again: it may have been set, or be another machine. */
const freshForMs = 10_000;
/** The two clocks of this machine differ by more once one was set, or the machine slept. */
const toleranceMs = 50;

/** What the store said, and what this machine's clocks showed then. */
interface Told {
  readonly storeMs: EpochMs;
  readonly monotonicMs: number;
  readonly wallMs: EpochMs;
}

/**
 * The store's clock, without asking it each time: what it said last, and the time that has passed since. It is behind by as
 * long as an answer took, and not ahead, so that nothing is over before it is.
 */
export class StoreClock {
  readonly #store: Pick<SnapshotStore, "now">;
  readonly #environment: Environment;
  #told: Told | null = null;
  #asking: Promise<void> | null = null;

  constructor(store: Pick<SnapshotStore, "now">, environment: Environment) {
    this.#store = store;
    this.#environment = environment;
  }

  /** Asks the store if it has not said anything for a while. @throws what the store rejects with */
  async now(): Promise<EpochMs> {
    if (!this.#isFresh()) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
      });
      await this.#asking;
    }
    return this.likely();
  }

  /** As far as it is known here; the clock of this machine if nothing is. For hints. */
  likely(): EpochMs {
    if (!this.#told) return this.#environment.now();
    return this.#told.storeMs + Math.floor(this.#environment.monotonicMs() - this.#told.monotonicMs);
  }

  /** The store has just said what time it is. */
  tell(storeMs: EpochMs): void {
    // an answer that took longer than another one says less
    if (this.#isFresh() && storeMs <= this.likely()) return;
    this.#told = { storeMs, monotonicMs: this.#environment.monotonicMs(), wallMs: this.#environment.now() };
  }

  async #ask(): Promise<void> {
    this.tell(await this.#store.now());
  }

  #isFresh(): boolean {
    if (!this.#told) return false;
    const passedMs = this.#environment.monotonicMs() - this.#told.monotonicMs;
    const shownMs = this.#environment.now() - this.#told.wallMs;
    return passedMs < freshForMs && Math.abs(shownMs - passedMs) < toleranceMs;
  }
}
