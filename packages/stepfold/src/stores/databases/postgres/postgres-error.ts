import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/**
 * SQLSTATEs, or their classes, after which the same call may succeed: connection lost, out of resources or connections,
 * deadlock and serialization failure, lock and statement timeouts, shutdown and failover, a standby that answered.
 */
const passing = /^(08|53|40001$|40P01$|40003$|55P03$|57014$|57P0|25006$|25P03$|58030$)/;

/** What to do about it, where the server's own words do not say. */
const advice: Readonly<Record<string, string>> = {
  "42P01": "the tables are missing: run `stepfold migrate --store URL` or pass migrate: true",
  "3F000": "the tables are missing: run `stepfold migrate --store URL` or pass migrate: true",
  "42703": "the tables are of another version: run `stepfold migrate --store URL` or pass migrate: true",
  "42501":
    "the user may not do this: grant it SELECT, INSERT, UPDATE and DELETE on the tables and USAGE on schema and sequences, or migrate as their owner",
  "28P01": "user or password are wrong",
  "28000": "the server does not let this user in",
  "3D000": "the database does not exist",
  "40P01": "a deadlock was broken off",
  "53300": "too many connections: use a smaller pool",
  "25006": "the server is read-only: connect to the primary",
};

/** What went wrong in PostgreSQL or on the way there, as one of our errors. */
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
  // what no server said is a matter of the connection, unless it is a mistake in code
  const isMistake = cause instanceof SyntaxError || cause instanceof RangeError || cause instanceof ReferenceError;
  return !isMistake && !(cause instanceof TypeError && cause.cause === undefined);
}

/**
 * True if no single write of a group would fare better than the group: unlike after a deadlock or a wait for a lock that
 * took too long, which may be a matter of one of them.
 */
export function isOutageForAll(cause: unknown): boolean {
  const state = sqlState(cause);
  return isOutage(cause) && !(state !== null && /^(40P01|40001|55P03|57014)$/.test(state));
}

function sqlState(cause: unknown): string | null {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null;
}

function withoutUrls(message: string): string {
  return message.replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(address)");
}
