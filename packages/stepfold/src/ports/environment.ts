import type { EpochMs } from "../core/values/json.ts";

/** What the engine asks of the machine it runs on. Hand in your own to test with a virtual clock. */
export interface Environment {
  now(): EpochMs;
  /** Milliseconds since some moment; never goes back, whatever is done to the clock. */
  monotonicMs(): number;
  /** A new, globally unique id. */
  newId(): string;
  /**
   * Runs `callback` once after `delayMs`; the returned function cancels it. Delays beyond 24 days must work.
   * A `background` timer does not keep the process alive. One that only looks whether something has happened elsewhere is a
   * `poll`: a clock for tests may call it late while nothing happens.
   */
  after(delayMs: number, callback: () => void, options?: { readonly background?: boolean; readonly poll?: boolean }): () => void;
}
