import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** What D1 and Durable Objects, both SQLite in workerd, take: 100 parameters a statement, 2 MB a row. */
export const workerdLimits = {
  maxIds: 90,
  /** The rest of a row is ids, labels and metadata. */
  maxValueBytes: 1_900_000,
} as const;

/** What they say after which the same call may succeed: their object was moved or restarted, or too much is asked of it. */
const passing =
  /SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|INTERRUPT|NOMEM)|was reset|to be reset|overloaded|connection lost|transient|time(d )?out|internal error/i;

/** What went wrong in one of them, as one of our errors; ours pass through. @param missingTables what to do about a database without our tables */
export function workerdError(store: string, cause: unknown, missingTables: string): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const hint = /no such table: (executions|events|children|records)/.test(message) ? `; ${missingTables}` : "";
  return new StepfoldError(passing.test(message) ? "STORE_UNAVAILABLE" : "STORE_REJECTED", { store, reason: message + hint }, { cause });
}
