import { StepfoldError } from "stepfold";

/** A time during which the database does not answer. */
export interface Outage {
  /** Something went wrong in the background. */
  tell(error: unknown): void;
  /** Notes that the database has answered, and gives the answer back. */
  over<T>(answer: T): T;
  /** Why it does not answer; null while it does. */
  reason(): string | null;
}

/**
 * A store that does not answer is asked again, for `patienceMs`. Any other trouble does not go away by itself.
 *
 * @param fail called with what cannot be waited out
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
