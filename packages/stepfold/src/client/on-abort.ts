import type { ClientTime } from "./client-time.ts";

/** Calls back when the signal is aborted, or at once if it was aborted before. The returned function ends this. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  signal?.addEventListener("abort", callback);
  return () => signal?.removeEventListener("abort", callback);
}

/** Waits for work that does not know the signal itself. Rejects with the reason of the signal if that is aborted first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let release = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    release = onAbort(signal, () => reject(signal?.reason));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    release();
  }
}

/** Resolves after a time, or as soon as the signal is aborted. */
export async function abortablePause(delayMs: number, signal: AbortSignal, time: ClientTime): Promise<void> {
  let stopTimer = (): void => undefined;
  const elapsed = new Promise<void>((resolve) => {
    stopTimer = time.after(delayMs, resolve);
  });
  await unlessAborted(elapsed, signal).catch(() => undefined);
  stopTimer();
}
