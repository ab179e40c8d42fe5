/** A message that nobody has. */
export interface Waiting {
  readonly workflowId: string;
  /** As `monotonicMs` counts. */
  readonly dueAt: number;
  /** Of two with one key, one is enough. */
  readonly dedupeKey?: string;
}

/** Messages in the order in which they are due; those due at one moment in the order in which they came. */
export interface WaitingLine {
  add(message: Waiting): void;
  /** The first, if it is due. */
  take(now: number): Waiting | undefined;
  /** When the first is due. */
  next(): number | undefined;
}

/** An empty one. */
export function waitingLine(): WaitingLine {
  const line: Waiting[] = [];
  const keys = new Set<string>();
  return {
    add(message) {
      const { dedupeKey, dueAt } = message;
      if (dedupeKey !== undefined) {
        if (keys.has(dedupeKey)) return;
        keys.add(dedupeKey);
      }
      let place = line.length;
      // most are due last: few steps
      while (place > 0 && line[place - 1]!.dueAt > dueAt) place--;
      line.splice(place, 0, message);
    },
    take(now) {
      if (line.length === 0 || line[0]!.dueAt > now) return undefined;
      const message = line.shift()!;
      if (message.dedupeKey !== undefined) keys.delete(message.dedupeKey);
      return message;
    },
    next: () => line[0]?.dueAt,
  };
}
