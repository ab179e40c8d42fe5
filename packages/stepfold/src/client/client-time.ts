import type { Environment } from "../ports/environment.ts";

/** The clock, the timers and the chance that the client uses: an argument, so that tests need not wait. */
export interface ClientTime extends Pick<Environment, "now" | "after"> {
  /** A number from 0 to below 1. */
  random(): number;
}

/** The real time. The client needs no delay that is too long for a timer. */
export const systemTime: ClientTime = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
