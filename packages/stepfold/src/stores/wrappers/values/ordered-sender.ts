/** Sends what takes a while to prepare in the order in which it was asked for, key by key. */
export interface InOrder {
  /** Only the sending is in order: what is sent next does not wait for the answer, nor for what could not be prepared. */
  send<P, R>(key: string, prepared: Promise<P>, send: (prepared: P) => Promise<R>): Promise<R>;
  /** True while something of this key is not sent yet. */
  waits(key: string): boolean;
  /** Resolves when everything that was sent has its answer. */
  idle(): Promise<void>;
}

/** Nothing was sent yet. */
export function inOrder(): InOrder {
  const tails = new Map<string, Promise<unknown>>();
  const underWay = new Set<Promise<unknown>>();

  const answered = async <P, R>(key: string, prepared: Promise<P>, send: (prepared: P) => Promise<R>): Promise<R> => {
    const before = tails.get(key);
    // an answer in an object is not waited for
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
      underWay.add(answer);
      const done = (): void => void underWay.delete(answer);
      answer.then(done, done);
      return answer;
    },
    waits: (key) => tails.has(key),
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}
