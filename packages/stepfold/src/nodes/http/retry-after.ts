/** The longest delay of a step, even if the service asks for a longer one. */
const maxDelayMs = 24 * 3_600_000;

/**
 * Returns after how many milliseconds a service wants to be called again, from the seconds or the date in its `Retry-After`. Null if the
 * header is missing or cannot be read. At most 24 hours.
 */
export function retryAfterOf(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const delayMs = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : httpDate(text) - now;
  return Number.isNaN(delayMs) ? null : Math.min(Math.max(0, delayMs), maxDelayMs);
}

/** Reads a date only in the form that RFC 9110 tells servers to write, because `Date.parse` accepts almost any text. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}
