import { HttpError } from "./http-error.ts";

/**
 * Runs `work` with a signal that is aborted when the time is up or `outer` is aborted. If `work` rejects after that, the reason of the
 * abort is thrown in place of its error. `work` must react to the signal: this function waits until `work` has ended.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal,
  label: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const late = (): void => controller.abort(new HttpError("HTTP_TIMEOUT", `${label} took longer than ${timeoutMs} ms`));
  const stop = (): void => controller.abort(new HttpError("HTTP_ABORTED", `${label} was stopped`, { cause: outer.reason }));
  const timer = setTimeout(late, timeoutMs);
  if (outer.aborted) stop();
  else outer.addEventListener("abort", stop, { once: true });
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", stop);
  }
}
