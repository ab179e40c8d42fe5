import { seededShare } from "../values/seeded.ts";

/** A retry policy with every field evaluated. Times in milliseconds. */
export interface RetryRule {
  /** Including the first. */
  readonly maxAttempts: number;
  readonly intervalMs: number;
  readonly backoff: "fixed" | "exponential";
  readonly maxIntervalMs?: number;
  /** 0 to 1. */
  readonly jitter: number;
}

/** The rule of a node without a policy: one attempt. */
export const noRetry: RetryRule = Object.freeze({ maxAttempts: 1, intervalMs: 0, backoff: "fixed", jitter: 0 });

/**
 * Milliseconds from the failure of an attempt to the next one, or null if there is none.
 *
 * `interval` or `interval * 2^(attempt - 1)`, at most `maxInterval`, less up to `jitter` of it. The random share
 * comes from the seed: the same on every machine.
 *
 * @param attempt the one that failed; 1 for the first
 * @param seed names the attempt: `workflowId/pathId#visit`
 *
 * ```ts
 * retryDelayMs({ maxAttempts: 3, intervalMs: 1000, backoff: "exponential", jitter: 0 }, 2, "order-1/0#1"); // 2000
 * ```
 */
export function retryDelayMs(rule: RetryRule, attempt: number, seed: string): number | null {
  if (attempt >= rule.maxAttempts) return null;
  // beyond 2^52 no delay grows any more, and 0 * Infinity would be no number
  const grown = rule.backoff === "exponential" ? rule.intervalMs * 2 ** Math.min(attempt - 1, 52) : rule.intervalMs;
  const delayMs = Math.min(grown, rule.maxIntervalMs ?? Number.MAX_SAFE_INTEGER);
  return rule.jitter > 0 ? Math.round(delayMs * (1 - rule.jitter * seededShare(`${seed}:${attempt}`))) : delayMs;
}
