import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** The limits of D1 and Durable Objects, which both use SQLite in workerd: 100 parameters in a statement, 2 MB in a row. */
export const workerdLimits = {
  /** The most ids in one statement; the other parameters are for other values. */
  maxIds: 90,
  /** The largest value in bytes; the rest of a row is for ids, labels and metadata. */
  maxValueBytes: 1_900_000,
} as const;

/** Matches messages after which the same call may succeed later, for example because the object was moved, restarted or is overloaded. */
const passing =
  /SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|INTERRUPT|NOMEM)|was reset|to be reset|overloaded|connection lost|transient|time(d )?out|internal error/i;

/**
 * Converts an error of D1 or a Durable Object into a `StepfoldError`. An error that is a `StepfoldError` already is returned as it is.
 *
 * @param missingTables what to do about a database without the tables
 */
export function workerdError(store: string, cause: unknown, missingTables: string): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const hint = /no such table: (executions|events|children|records)/.test(message) ? `; ${missingTables}` : "";
  return new StepfoldError(passing.test(message) ? "STORE_UNAVAILABLE" : "STORE_REJECTED", { store, reason: message + hint }, { cause });
}
