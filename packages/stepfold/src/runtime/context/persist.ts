import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Environment } from "../../ports/environment.ts";

const firstDelayMs = 20;
const maxDelayMs = 2_000;

/** How long a call from outside waits for a store that does not answer. */
export const maxUnavailableMs = 10_000;

/** No failover of a database to a copy takes less time: where answers follow each other faster there was none in between. */
export const minFailoverMs = 1_000;

/**
 * Repeats a store call while the store does not answer. This is safe for a commit too: if the store applied it and the
 * answer was lost, the store recognises its id and acknowledges it again.
 *
 * @param until gives the time on the monotonic clock at which to give up and pass the error on
 */
export function persist<T>(
  environment: Environment,
  until: () => number,
  call: () => Promise<T>,
  delayMs: number = firstDelayMs,
): Promise<T> {
  // not an async function: every step would wait for one more promise
  return call().catch(async (error: unknown) => {
    if (!StepfoldError.is(error, "STORE_UNAVAILABLE") || environment.monotonicMs() + delayMs >= until()) throw error;
    await new Promise<void>((resolve) => {
      environment.after(delayMs, resolve);
    });
    return persist(environment, until, call, Math.min(delayMs * 2, maxDelayMs));
  });
}

/**
 * As `persistForCaller`, for a write. If it was sent, it may be applied although no answer came, even after this has given up.
 *
 * @throws StepfoldError `OUTCOME_UNKNOWN`, `STORE_UNAVAILABLE` if no connection was made, so that nothing was sent
 */
export async function writeForCaller<T>(
  environment: Environment,
  what: { readonly workflowId: string; readonly action: string },
  call: () => Promise<T>,
  untilMs?: number,
): Promise<T> {
  let mayBeSent = false;
  const watched = (): Promise<T> =>
    call().catch((error: unknown) => {
      mayBeSent ||= !wasNotSent(error as Error);
      throw error;
    });
  try {
    return await persistForCaller(environment, watched, untilMs);
  } catch (error) {
    if (!StepfoldError.is(error, "STORE_UNAVAILABLE") || !mayBeSent) throw error;
    throw new StepfoldError("OUTCOME_UNKNOWN", { ...what, reason: error.message }, { cause: error });
  }
}

/** What the operating system says of a connection that was never made. */
interface ConnectFailure {
  readonly syscall?: unknown;
  /** Of a host with several addresses: one for each. */
  readonly errors?: readonly unknown[];
  /** Of a client that repeats calls by itself: those before may have been sent. */
  readonly $metadata?: unknown;
}

/** True if no connection was made. An error that lies deeper may be the last of several tries of a client. */
function wasNotSent({ cause }: { readonly cause?: unknown }): boolean {
  const { syscall, errors, $metadata } = (cause ?? {}) as ConnectFailure;
  if ($metadata !== undefined) return false;
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each: unknown) => wasNotSent({ cause: each }));
  return syscall === "connect" || syscall === "getaddrinfo";
}

/** As `persist`, for a call from outside: gives up after 10 s, or at `untilMs` on the monotonic clock. */
export function persistForCaller<T>(
  environment: Environment,
  call: () => Promise<T>,
  untilMs: number = environment.monotonicMs() + maxUnavailableMs,
): Promise<T> {
  return persist(environment, () => untilMs, call);
}
