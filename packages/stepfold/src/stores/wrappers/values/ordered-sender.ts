/** Sends calls that are prepared asynchronously. Calls with the same key are sent in the order in which they were requested. */
export interface OrderedSender {
  /** Sends once `prepared` resolves and all earlier calls with this key are sent; does not wait for their answers. */
  send<P, R>(key: string, prepared: Promise<P>, send: (prepared: P) => Promise<R>): Promise<R>;
  /** Returns true if a call with this key is not sent yet, so that a new call must wait for it. */
  isWaiting(key: string): boolean;
  /** Resolves when all calls are answered. */
  idle(): Promise<void>;
}

/** Makes a sender. A call whose preparation fails is not sent, and does not block later calls. */
export function orderedSender(): OrderedSender {
  const tails = new Map<string, Promise<unknown>>();
  const inFlight = new Set<Promise<unknown>>();

  const answered = async <P, R>(key: string, prepared: Promise<P>, send: (prepared: P) => Promise<R>): Promise<R> => {
    const before = tails.get(key);
    // wrapped in an object, because a promise that resolves with a promise would wait for the answer
    const sent = Promise.all([prepared, before]).then(([ready]) => ({ answer: send(ready) }));
    const tail = Promise.allSettled([before, sent]);
    tails.set(key, tail);
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    return (await sent).answer;
  };

  return {
    send(key, prepared, send) {
      const answer = answered(key, prepared, send);
      inFlight.add(answer);
      const done = (): void => void inFlight.delete(answer);
      answer.then(done, done);
      return answer;
    },
    isWaiting: (key) => tails.has(key),
    async idle() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
  };
}
