/** The longest delay that a message can name: 12 hours. What is due later is found by a poll or a sweep of the store. */
export const maxNamedDelayMs: number = 12 * 60 * 60 * 1000;

/**
 * Returns how many milliseconds a message waits that says its own delay: at most 12 hours, and 0 if the given value is no delay. The message
 * may come from anybody who can write to the queue. Without the bound it would be sent on for years; and a queue that cannot hold so large
 * a number would deliver it at once, over and over.
 */
export function namedDelay(delayMs: unknown): number {
  return typeof delayMs === "number" && delayMs > 0 ? Math.min(Math.ceil(delayMs), maxNamedDelayMs) : 0;
}
