import type { EpochMs } from "../../core/values/json.ts";
import type { Environment } from "../../ports/environment.ts";
import type { Claimed, Lease, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { StoreClock } from "../context/store-clock.ts";

/** Wakes further off, or more of them, are left to the regular poll: it is late by its interval at most. */
const horizonMs = 60_000;
const mostWakes = 1_000;
/** How long after its time an execution is still looked for out of turn. */
const graceMs = 20;

/** How the store is asked for what is due. */
export interface Polling {
  readonly store: SnapshotStore;
  readonly environment: Environment;
  readonly clock: StoreClock;
  readonly lease: Lease;
  /** How often. */
  readonly pollMs: number;
  /** How long something has to be due before it counts: what a queue tells of is left to the queue that long. */
  readonly overdueMs: number;
  /** How many more could be driven now. */
  readonly room: () => number;
  /** Where there is more than could be taken, it is asked for again once there is that much room. */
  readonly isRoomy: () => boolean;
  /** Told also when the claim was asked for, by the monotonic clock. */
  readonly take: (claimed: Claimed, askedAtMs: number) => void;
  readonly onProblem: (error: unknown) => void;
}

/** Asks the store for executions that are due and that nobody holds: timers, retries, what a crash left behind. */
export class Poller {
  readonly #polling: Polling;
  /** When executions that were driven here are due again, as far as that is soon. */
  readonly #wakes = new Map<string, EpochMs>();
  #cancel: () => void = () => undefined;
  #at = Number.POSITIVE_INFINITY;
  #asking: Promise<void> | null = null;
  /** There was more than could be taken. */
  #isMore = false;
  #closed = false;

  constructor(polling: Polling) {
    this.#polling = polling;
    this.#askIn(0);
  }

  /** Resolves when the store is not asked any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#asking;
  }

  /** Something was left to be found. */
  more(): void {
    this.#isMore = true;
    this.left();
  }

  /** Something that was taken has been driven: there is room again. */
  left(): void {
    if (this.#isMore && this.#polling.isRoomy()) this.#askIn(0);
  }

  /** A timer that this process knows of need not wait for the regular poll. */
  expect(workflowId: string, at: EpochMs): void {
    if (at - this.#polling.clock.likely() > horizonMs || this.#wakes.size >= mostWakes) return;
    this.#wakes.set(workflowId, at);
    this.#askForWakes();
  }

  /** It is being driven. */
  forget(workflowId: string): void {
    this.#wakes.delete(workflowId);
  }

  #askIn(delayMs: number): void {
    if (this.#closed) return;
    const { environment, pollMs } = this.#polling;
    const at = environment.monotonicMs() + delayMs;
    if (at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    this.#cancel = environment.after(delayMs, () => {
      this.#at = Number.POSITIVE_INFINITY;
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
        this.#askIn(pollMs);
        this.#askForWakes();
      });
    });
  }

  async #ask(): Promise<void> {
    const { store, environment, lease, overdueMs, room, take, onProblem } = this.#polling;
    const askedAtMs = environment.monotonicMs();
    const limit = room();
    if (limit <= 0) return;
    try {
      const found = await store.claim(overdueMs > 0 ? { ...lease, limit, overdueMs } : { ...lease, limit });
      this.#isMore = found.length === limit;
      for (const claimed of found) take(claimed, askedAtMs);
      this.left();
    } catch (error) {
      onProblem(error);
    }
  }

  #askForWakes(): void {
    const now = this.#polling.clock.likely();
    let first = Number.POSITIVE_INFINITY;
    for (const [workflowId, at] of this.#wakes) {
      // what was due a while ago is in other hands
      if (at < now - graceMs) this.#wakes.delete(workflowId);
      else first = Math.min(first, at);
    }
    // a timer may fire a moment early, and the store's clock may be a moment behind
    if (first < Number.POSITIVE_INFINITY) this.#askIn(Math.max(first - now, 0) + 1);
  }
}
