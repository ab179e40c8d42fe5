import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Names of driver errors which mean that no server answered. */
const network = /Network|ServerSelection|NotConnected|TopologyClosed|PoolClear|PoolClosed|Timeout|ExpiredSession/;

/**
 * Error codes of the server after which the same call may succeed: unreachable hosts, elections, shutdowns, time limits, locks,
 * write conflicts, write concerns that were not met in time, and full disks.
 */
const passing: ReadonlySet<unknown> = new Set([
  ...[6, 7, 24, 46, 50, 63, 64, 89, 91, 100, 112, 133, 134, 189, 202, 262, 317, 358, 384, 9001, 10107, 11600, 11602, 13388, 13435, 13436],
  14031,
]);

/** The fields of a driver error that are used. */
interface Failure {
  readonly name?: string;
  readonly code?: unknown;
  readonly errorLabels?: readonly string[];
  readonly writeErrors?: unknown;
  readonly result?: { getWriteConcernError?(): unknown };
}

/** Converts an error of MongoDB, of the driver or of the network into a `StepfoldError`. A `StepfoldError` stays as it is. */
export function mongoError(cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const { name = "", code, errorLabels = [] } = (cause ?? {}) as Failure;
  const mayPass = network.test(name) || passing.has(code) || errorLabels.some((label) => /^(Retryable|Transient)/.test(label));
  const reason = withoutValues(cause instanceof Error ? cause.message : String(cause));
  return new StepfoldError(mayPass ? "STORE_UNAVAILABLE" : "STORE_REJECTED", { store: "mongodb", reason }, { cause });
}

/** True if the only problem was that another writer had inserted a document with the same id. */
export function isDuplicate(cause: unknown): boolean {
  const { code, writeErrors, result } = (cause ?? {}) as Failure;
  if (code !== 11000 || result?.getWriteConcernError?.()) return false;
  const each = Array.isArray(writeErrors) ? (writeErrors as readonly Failure[]) : [];
  return each.every((one) => one.code === 11000);
}

/** Returns the result of `work`, or `otherwise` if another writer inserted a document with the same id at this moment. */
export async function unlessDuplicate<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isDuplicate(cause)) return otherwise;
    throw cause;
  }
}

/** Removes values from a message and shortens it: the server quotes refused values, maybe data of users, and a URL may hold a password. */
function withoutValues(message: string): string {
  return message
    .replace(/dup key: .*/s, "dup key")
    .replace(/:\/\/[^@/\s]*@/g, "://")
    .slice(0, 500);
}
