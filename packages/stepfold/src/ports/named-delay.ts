/** The longest delay that a message can name: 12 hours. What is due later is found by a poll or a sweep of the store. */
export const maxNamedDelayMs: number = 12 * 60 * 60 * 1000;

/**
 * Returns the delay of a message that names it itself, in milliseconds: at most 12 hours, and 0 for what is no delay. Whoever may write to a
 * queue can have written the message. Without the bound it would be sent on for years, or at once and again and again where the queue cannot
 * take so large a number.
 */
export function namedDelay(delayMs: unknown): number {
  return typeof delayMs === "number" && delayMs > 0 ? Math.min(Math.ceil(delayMs), maxNamedDelayMs) : 0;
}
