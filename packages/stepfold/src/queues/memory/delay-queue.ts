/** A message that no consumer holds. */
export interface QueuedMessage {
  readonly workflowId: string;
  /** When the message is due, on the monotonic clock. */
  readonly dueAtMs: number;
  /** Only one of the waiting messages with the same key is kept. */
  readonly dedupeKey?: string;
}

/** Messages in the order of their due times; messages with the same due time in the order in which they came. */
export interface DelayQueue {
  add(message: QueuedMessage): void;
  /** The first message, if it is due. */
  take(nowMs: number): QueuedMessage | undefined;
  /** When the first message is due; undefined if there is none. */
  nextDueAtMs(): number | undefined;
}

export function delayQueue(): DelayQueue {
  const messages: QueuedMessage[] = [];
  const keys = new Set<string>();
  return {
    add(message) {
      const { dedupeKey, dueAtMs } = message;
      if (dedupeKey !== undefined) {
        if (keys.has(dedupeKey)) return;
        keys.add(dedupeKey);
      }
      let index = messages.length;
      // most messages are due last, so the loop is short
      while (index > 0 && messages[index - 1]!.dueAtMs > dueAtMs) index--;
      messages.splice(index, 0, message);
    },
    take(nowMs) {
      if (messages.length === 0 || messages[0]!.dueAtMs > nowMs) return undefined;
      const message = messages.shift()!;
      if (message.dedupeKey !== undefined) keys.delete(message.dedupeKey);
      return message;
    },
    nextDueAtMs: () => messages[0]?.dueAtMs,
  };
}
