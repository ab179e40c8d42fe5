/** Sends what takes a while to prepare in the order in which it was asked for, key by key. */
export interface OrderedSender {
  /** Sends when `prepared` is there and everything asked for before with this key was sent. It does not wait for their answers. */
  send<P, R>(key: string, prepared: Promise<P>, send: (prepared: P) => Promise<R>): Promise<R>;
  /** Tells whether something with this key is not sent yet. */
  isWaiting(key: string): boolean;
  /** Resolves when everything that was sent has its answer. */
  idle(): Promise<void>;
}

/** Makes a sender. What could not be prepared is not sent, and holds up nothing. */
export function orderedSender(): OrderedSender {
  const tails = new Map<string, Promise<unknown>>();
  const inFlight = new Set<Promise<unknown>>();

  const answered = async <P, R>(key: string, prepared: Promise<P>, send: (prepared: P) => Promise<R>): Promise<R> => {
    const before = tails.get(key);
    // the answer is put into an object: a promise that resolves with a promise would wait for it
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
