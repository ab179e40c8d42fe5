import type { EpochMs } from "../core/values/json.ts";

/** The clock, the timers and the ids that the engine uses. Hand in your own to test with a virtual clock. */
export interface Environment {
  now(): EpochMs;
  /** Milliseconds since an arbitrary moment. It never goes back, also if the system clock is set back. */
  monotonicMs(): number;
  /** A new, globally unique id. */
  newId(): string;
  /**
   * Runs `callback` once after `delayMs`; the returned function cancels it. Delays beyond 24 days, the limit of `setTimeout`, must work.
   * A `background` timer does not keep the process alive. A `poll` timer only checks whether something has happened elsewhere:
   * a clock for tests may call it late while nothing happens.
   */
  after(delayMs: number, callback: () => void, options?: { readonly background?: boolean; readonly poll?: boolean }): () => void;
}
