/** How long a call waits for a preparation that another one began. One that never ends must not stop the process. */
const maxPatienceMs = 10_000;

/** Prepares something with the first call, for all calls. What failed, or takes too long, is tried again by the next call. */
export function onceReady<T>(prepare: () => Promise<T>, now: () => number = () => performance.now()): () => Promise<T> {
  let ready: { readonly promise: Promise<T>; readonly sinceMs: number; isDone: boolean } | null = null;
  return () => {
    if (ready && (ready.isDone || now() - ready.sinceMs < maxPatienceMs)) return ready.promise;
    const promise = prepare();
    const mine = { promise, sinceMs: now(), isDone: false };
    ready = mine;
    promise.then(
      () => {
        mine.isDone = true;
      },
      () => {
        if (ready === mine) ready = null;
      },
    );
    return promise;
  };
}
