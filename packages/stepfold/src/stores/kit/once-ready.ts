/** How long calls share a preparation that has not ended. A preparation that never ends must not block the process for ever. */
const maxPatienceMs = 10_000;

/** Prepares something once, in the first call, for all calls. If the preparation failed or takes too long, the next call tries again. */
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
