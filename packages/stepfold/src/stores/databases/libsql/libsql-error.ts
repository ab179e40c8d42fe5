import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Codes of SQLite, the client and the protocol after which the same call may succeed. */
const passing =
  /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL|INTERRUPT)|HRANA_(CLOSED|WEBSOCKET)|CLIENT_CLOSED|STREAM_|TRANSACTION_|INTERNAL_ERROR)/;

/** What `fetch` rejects with, by its various names on the platforms. */
const networkName = /Abort|Timeout/;
const networkMessage = /fetch|network|load failed|socket|terminated|other side closed|ECONN/i;

/** What a driver's error says beside its message. */
interface Failure {
  readonly name?: string;
  readonly code?: unknown;
  readonly cause?: { readonly status?: unknown };
}

/** What went wrong in libSQL, as one of our errors; ours pass through. */
export function libsqlError(cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const hint = /no such table: (executions|events|children|records)/.test(message) ? `; ${missingTables}` : "";
  const code = isPassing(cause, message) ? "STORE_UNAVAILABLE" : "STORE_REJECTED";
  return new StepfoldError(code, { store: "libsql", reason: message + hint }, { cause });
}

/** What to do about a database without our tables. */
export const missingTables =
  "the tables are missing: run `stepfold migrate --store libsql://...`, call `migrateLibsql(client)`, or pass `migrate: true`";

/** True if every write would fail now: to send those of a group one by one would only take longer. */
export function isOutageForAll(cause: unknown): boolean {
  const { code } = (cause ?? {}) as Failure;
  // a full disk may hold a smaller write
  return libsqlError(cause).code === "STORE_UNAVAILABLE" && !(typeof code === "string" && /^SQLITE_(FULL|IOERR)/.test(code));
}

function isPassing(cause: unknown, message: string): boolean {
  const { name = "", code, cause: deeper } = (cause ?? {}) as Failure;
  if (typeof code === "string" && passing.test(code)) return true;
  const status = deeper?.status;
  if (typeof status === "number") return status === 408 || status === 429 || status >= 500;
  return typeof code !== "string" && (networkName.test(name) || networkMessage.test(message)); // that of a timeout is a number
}
