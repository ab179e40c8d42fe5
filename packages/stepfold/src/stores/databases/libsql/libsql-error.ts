import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Codes of SQLite, the client and the protocol after which the same call may succeed. */
const passing =
  /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL|INTERRUPT)|HRANA_(CLOSED|WEBSOCKET)|CLIENT_CLOSED|STREAM_|TRANSACTION_|INTERNAL_ERROR)/;

/** Matches names of the errors with which `fetch` rejects on the various platforms. */
const networkName = /Abort|Timeout/;
/** Matches messages of these errors. */
const networkMessage = /fetch|network|load failed|socket|terminated|other side closed|ECONN/i;

/** What a driver's error says in addition to its message. */
interface Failure {
  readonly name?: string;
  readonly code?: unknown;
  /** The error of the request, with the HTTP status of the answer. */
  readonly cause?: { readonly status?: unknown };
}

/** Converts an error of libSQL into a `StepfoldError`. An error that is a `StepfoldError` already is returned as it is. */
export function libsqlError(cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const hint = /no such table: (executions|events|children|records)/.test(message) ? `; ${missingTables}` : "";
  const code = isPassing(cause, message) ? "STORE_UNAVAILABLE" : "STORE_REJECTED";
  return new StepfoldError(code, { store: "libsql", reason: message + hint }, { cause });
}

/** What to do about a database without the tables. */
export const missingTables =
  "the tables are missing: run `stepfold migrate --store libsql://...`, call `migrateLibsql(client)`, or pass `migrate: true`";

/** True if it would not help to send the writes of a failed group one by one, because every write would fail. */
export function failsForEveryWrite(cause: unknown): boolean {
  const { code } = (cause ?? {}) as Failure;
  // a full disk, which may be reported as an I/O error, may still have room for a smaller write
  return libsqlError(cause).code === "STORE_UNAVAILABLE" && !(typeof code === "string" && /^SQLITE_(FULL|IOERR)/.test(code));
}

function isPassing(cause: unknown, message: string): boolean {
  const { name = "", code, cause: deeper } = (cause ?? {}) as Failure;
  if (typeof code === "string" && passing.test(code)) return true;
  const status = deeper?.status;
  if (typeof status === "number") return status === 408 || status === 429 || status >= 500;
  return typeof code !== "string" && (networkName.test(name) || networkMessage.test(message)); // a timeout has a number as its code
}
