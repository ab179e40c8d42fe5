/** Prepares something with the first call, for all calls. What failed is tried again by the next call. */
export function onceReady<T>(prepare: () => Promise<T>): () => Promise<T> {
  let ready: Promise<T> | null = null;
  return () => {
    ready ??= prepare().catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };
}
