/** However long a service asks for, a step is not put to sleep for longer. */
const maxDelayMs = 24 * 3_600_000;

/**
 * When a service wants to be called again: milliseconds from now, from the seconds or the date of its `Retry-After`;
 * null if it did not say, or nothing that can be read. At most 24 hours.
 */
export function retryAfterOf(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const delayMs = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : httpDate(text) - now;
  return Number.isNaN(delayMs) ? null : Math.min(Math.max(0, delayMs), maxDelayMs);
}

/** Only the form that RFC 9110 tells servers to write: Date.parse alone takes almost anything for a date. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}
