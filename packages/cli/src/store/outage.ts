import { StepfoldError } from "stepfold";

/** Watches whether the database answers. */
export interface Outage {
  /** Takes in an error of background work. */
  tell(error: unknown): void;
  /** Records that the database has answered, and returns the answer. */
  over<T>(answer: T): T;
  /** Why the database does not answer; null while it does. */
  reason(): string | null;
}

/**
 * Waits at most `patienceMs` for a store that does not answer; the runtime asks it again. Any other error does not go away by itself.
 *
 * @param fail called with an error that does not go away, or that lasts too long
 */
export function outageOf(patienceMs: number, fail: (error: unknown) => void, now: () => number = () => performance.now()): Outage {
  let since: number | null = null;
  let reason: string | null = null;
  return {
    tell(error) {
      if (!StepfoldError.is(error) || !error.retryable) return fail(error);
      since ??= now();
      reason = error.message;
      if (now() - since > patienceMs) fail(error);
    },
    over(answer) {
      since = null;
      reason = null;
      return answer;
    },
    reason: () => reason,
  };
}
