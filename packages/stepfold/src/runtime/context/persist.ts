import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Environment } from "../../ports/environment.ts";

const firstDelayMs = 20;
const longestDelayMs = 2_000;

/**
 * Repeats a write while the store does not answer. Safe because a commit that was applied although nobody heard so
 * is recognised by its id and acknowledged.
 *
 * @param until gives the monotonic milliseconds at which to give up and pass the error on
 */
export async function persist<T>(environment: Environment, until: () => number, write: () => Promise<T>): Promise<T> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    try {
      return await write();
    } catch (error) {
      if (!StepfoldError.is(error, "STORE_UNAVAILABLE") || environment.monotonicMs() + delayMs >= until()) throw error;
      await new Promise<void>((resolve) => {
        environment.after(delayMs, resolve);
      });
    }
  }
}
