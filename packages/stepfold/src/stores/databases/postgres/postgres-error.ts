import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/**
 * SQLSTATEs, or the beginnings of SQLSTATEs, after which the same call may succeed: connection lost, out of resources or connections,
 * deadlock and serialization failure, unknown outcome, timeouts (lock, statement, idle session or transaction), shutdown and failover, a
 * standby that answered, an I/O error.
 */
const passing = /^(08|53|40001$|40P01$|40003$|55P03$|57014$|57P0[1-3]$|25006$|25P03$|58030$)/;

/** What an error means or what to do about it, by its SQLSTATE, where the server's message does not say it. */
const advice: Readonly<Record<string, string>> = {
  "42P01": "the tables are missing: run `stepfold migrate --store URL` or pass migrate: true",
  "3F000": "the tables are missing: run `stepfold migrate --store URL` or pass migrate: true",
  "42703": "the tables are of another version of Stepfold: use that version, or another schema",
  "42501":
    "the user has no permission for this: grant it SELECT, INSERT, UPDATE and DELETE on the tables and USAGE on schema and sequences, or migrate as their owner",
  "28P01": "the user name or the password is wrong",
  "28000": "the server refuses this user",
  "3D000": "the database does not exist",
  "40P01": "a deadlock was detected, and the server rolled this transaction back",
  "53300": "too many connections: use a smaller pool",
  "25006": "the server is read-only: connect to the primary",
};

/** Converts an error of PostgreSQL, of the driver or of the network into a `StepfoldError`. */
export function postgresError(cause: unknown): StepfoldError {
  const state = sqlState(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  const reason = withoutUrls((state !== null && advice[state]) || message || "the connection failed");
  const details = { store: "postgres", reason: state === null ? reason : `${reason} (SQLSTATE ${state})` };
  return new StepfoldError(isOutage(cause) ? "STORE_UNAVAILABLE" : "STORE_REJECTED", details, { cause });
}

/** True if the same call may succeed later. */
function isOutage(cause: unknown): boolean {
  const state = sqlState(cause);
  if (state !== null) return passing.test(state);
  // an error without SQLSTATE comes from the connection, unless it is a mistake in code; `fetch` fails with a TypeError that has a cause
  const isMistake = cause instanceof SyntaxError || cause instanceof RangeError || cause instanceof ReferenceError;
  return !isMistake && !(cause instanceof TypeError && cause.cause === undefined);
}

/**
 * True if it would not help to send the writes of a failed group one by one. It may help after a deadlock, a serialization failure, a
 * timeout on the server, or an error that is no outage, because only one of the writes may be the reason.
 */
export function failsForEveryWrite(cause: unknown): boolean {
  const state = sqlState(cause);
  return isOutage(cause) && !(state !== null && /^(40P01|40001|55P03|57014)$/.test(state));
}

/** Returns the SQLSTATE of an error; null if it has none. A SQLSTATE has a digit, unlike a code of Node.js such as `EPIPE`. */
function sqlState(cause: unknown): string | null {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Returns the message without URLs, because they may contain passwords. */
function withoutUrls(message: string): string {
  return message.replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(address)");
}
