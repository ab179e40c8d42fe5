import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** SQLite's primary result codes after which the same call may succeed: busy, locked, I/O error, full, cannot open, lock protocol. */
const passing: ReadonlySet<number> = new Set([5, 6, 10, 13, 14, 15]);

/**
 * Converts an error of SQLite into a `StepfoldError`. An error that is a `StepfoldError` already is returned as it is.
 *
 * @param doing what was tried, for the message
 */
export function sqliteError(cause: unknown, doing?: string): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const code = resultCode(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  const isClosed = cause instanceof Error && "code" in cause && cause.code === "ERR_INVALID_STATE";
  const reason = isClosed ? "the database was closed" : doing ? `${doing}: ${message}` : message;
  const isPassing = isClosed || (code !== null && passing.has(code));
  return new StepfoldError(isPassing ? "STORE_UNAVAILABLE" : "STORE_REJECTED", { store: "sqlite", reason }, { cause });
}

/** True if another connection holds the lock that was asked for. */
export function isBusy(cause: unknown): boolean {
  const code = resultCode(cause);
  return code === 5 || code === 6;
}

/** The primary result code: the low byte of the extended one. */
function resultCode(cause: unknown): number | null {
  const { errcode } = (cause ?? {}) as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : null;
}
