import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Environment } from "../../../ports/environment.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";

/** The delay before the first repetition of a call, and the longest one; it doubles from one to the next. */
const firstDelayMs = 20;
const maxDelayMs = 2_000;

/** How long a call of the user, or a delivery to another execution, waits for a store that does not answer. */
export const maxUnavailableMs = 10_000;

/** No failover of a database to a copy takes less time. Two answers that follow each other faster have no failover between them. */
export const minFailoverMs = 1_000;

/**
 * Repeats a store call while the store does not answer. This is safe for a commit too: if the store applied it and the
 * answer was lost, the store recognises its id and acknowledges it again. After a `trim` it does not: see `writeForCaller`.
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

/** A write for a caller. */
export interface CallerWrite {
  readonly workflowId: string;
  readonly action: string;
  /** The commit to an existing execution that the write makes; absent for a creation, which a store always knows again. */
  readonly commit?: Commit;
}

/**
 * Does the same as `persistForCaller`, for a write. A write that was sent may be applied without an answer, even after this call gave up.
 *
 * @throws StepfoldError `OUTCOME_UNKNOWN`, `STORE_UNAVAILABLE` if no connection was made, so that nothing was sent
 */
export async function writeForCaller<T>(
  { store, environment }: { readonly store: Pick<SnapshotStore, "events">; readonly environment: Environment },
  { commit, ...what }: CallerWrite,
  call: () => Promise<T>,
  untilMs?: number,
): Promise<T> {
  let mayBeApplied = false;
  const watched = (): Promise<T> =>
    call().catch((error: unknown) => {
      mayBeApplied ||= StepfoldError.is(error, "STORE_UNAVAILABLE") && !wasNotSent(error);
      throw error;
    });
  const unknown = (reason: string, cause: StepfoldError): StepfoldError =>
    new StepfoldError("OUTCOME_UNKNOWN", { ...what, reason }, { cause });
  try {
    return await persistForCaller(environment, watched, untilMs);
  } catch (error) {
    if (!mayBeApplied) throw error;
    if (StepfoldError.is(error, "STORE_UNAVAILABLE")) throw unknown(error.message, error);
    if (!commit || !StepfoldError.is(error, "VERSION_CONFLICT")) throw error;
    if (error.details.actual !== null && (await isOfAnother(store, commit).catch(() => false))) throw error;
    throw unknown("the store did not answer, and the events that would tell were deleted before it did", error);
  }
}

/** Whether another commit has written the last version of a commit. False also if its event was trimmed: then nobody can tell any more. */
async function isOfAnother(store: Pick<SnapshotStore, "events">, { workflowId, commitId, events }: Commit): Promise<boolean> {
  const { version } = events.at(-1)!;
  const [found] = await store.events(workflowId, version - 1, 1);
  return found?.version === version && found.commitId !== commitId;
}

/** The fields of an error that show whether a connection was made. */
interface ConnectFailure {
  readonly syscall?: unknown;
  /** The errors of a host with several addresses, one for each address. */
  readonly errors?: readonly unknown[];
  /** Set by clients that repeat calls themselves (AWS): the calls before the last one may have been sent. */
  readonly $metadata?: unknown;
}

/** True if no connection was made. Only the direct cause counts: a deeper error may be the last of several tries of a client. */
function wasNotSent({ cause }: { readonly cause?: unknown }): boolean {
  const { syscall, errors, $metadata } = (cause ?? {}) as ConnectFailure;
  if ($metadata !== undefined) return false;
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each: unknown) => wasNotSent({ cause: each }));
  return syscall === "connect" || syscall === "getaddrinfo";
}

/** Does the same as `persist`, for a call from outside: gives up after 10 s, or at `untilMs` on the monotonic clock. */
export function persistForCaller<T>(
  environment: Environment,
  call: () => Promise<T>,
  untilMs: number = environment.monotonicMs() + maxUnavailableMs,
): Promise<T> {
  return persist(environment, () => untilMs, call);
}
