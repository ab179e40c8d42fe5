import { seededShare } from "../values/hash/seeded.ts";

/** A retry policy with every field evaluated. Times in milliseconds. */
export interface RetryRule {
  /** The number of attempts, including the first. */
  readonly maxAttempts: number;
  readonly intervalMs: number;
  readonly backoff: "fixed" | "exponential";
  readonly maxIntervalMs?: number;
  /** The largest share of the delay that is subtracted at random: 0 to 1. */
  readonly jitter: number;
}

/** The rule if neither the node nor its type has a policy: one attempt. */
export const noRetry: RetryRule = Object.freeze({ maxAttempts: 1, intervalMs: 0, backoff: "fixed", jitter: 0 });

/**
 * Returns the milliseconds from the failure of an attempt to the next attempt, or null if no attempt is left.
 *
 * The delay is `interval` or `interval * 2^(attempt - 1)`, at most `maxInterval`, minus a random share of at most `jitter`. The seed
 * decides the random share, so it is the same on every machine.
 *
 * @param attempt the number of the failed attempt; 1 for the first
 * @param seed identifies the step: `workflowId/pathId#visit`, with the key of the child before `pathId`
 *
 * ```ts
 * retryDelayMs({ maxAttempts: 3, intervalMs: 1000, backoff: "exponential", jitter: 0 }, 2, "order-1/0#1"); // 2000
 * ```
 */
export function retryDelayMs(rule: RetryRule, attempt: number, seed: string): number | null {
  if (attempt >= rule.maxAttempts) return null;
  // the factor is at most 2^52, because a factor of Infinity would turn an interval of 0 into NaN
  const grown = rule.backoff === "exponential" ? rule.intervalMs * 2 ** Math.min(attempt - 1, 52) : rule.intervalMs;
  const delayMs = Math.min(grown, rule.maxIntervalMs ?? Number.MAX_SAFE_INTEGER);
  return rule.jitter > 0 ? Math.round(delayMs * (1 - rule.jitter * seededShare(`${seed}:${attempt}`))) : delayMs;
}
