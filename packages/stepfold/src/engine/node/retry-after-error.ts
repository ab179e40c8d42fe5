import { safeMember } from "../../core/errors/safe-member.ts";

/**
 * An error to throw if the called service said when to try again. The retry policy still decides how many attempts there are; only its
 * delay is replaced, by at most its `maxInterval`. Without a retry policy there is no further attempt.
 *
 * ```ts
 * if (response.status === 429) throw new RetryAfterError(Number(response.headers.get("retry-after")) * 1000, "rate limited");
 * ```
 */
export class RetryAfterError extends Error {
  /** By this mark, a second copy of this package in the same process recognises the error. */
  readonly "~retryAfter": number | Date;
  override readonly name: string = "RetryAfterError";

  /** @param delayMs milliseconds from now, or the moment itself */
  constructor(delayMs: number | Date, message?: string, options?: { cause?: unknown }) {
    super(message ?? "asked to come back later", options);
    this["~retryAfter"] = delayMs;
  }
}

/** Milliseconds that a RetryAfterError asks for; null for any other error, and for a delay that is not a finite number. */
export function retryAfterMs(thrown: unknown, now: number): number | null {
  const asked = safeMember(thrown, "~retryAfter");
  const delayMs = asked instanceof Date ? asked.getTime() - now : asked;
  return typeof delayMs === "number" && Number.isFinite(delayMs) ? Math.max(0, Math.round(delayMs)) : null;
}
