import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Numbers of server errors after which the same call may succeed. */
const passing: ReadonlySet<number> = new Set([
  ...[1205, 1213, 1020, 1206, 1614, 3572], // lock timeout, deadlock, row changed, no room for locks, deadlock of XA branches, NOWAIT
  ...[1040, 1203, 1226], // too many connections in total or of one user, or another resource limit of a user
  ...[1021, 1114, 1037, 1038, 1041, 1461], // disk or table full, out of memory, too many prepared statements
  1615, // a table changed after the statement was prepared
  ...[1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 2006, 2013, 4031], // shutdown, or the connection was lost
  ...[1317, 1927, 1969, 3024, 3169], // the query or the connection was killed, or took too long
  ...[1290, 1792, 1836], // the server is read-only: a replica, while another server takes over
  ...[1047, 1180, 1402, 3100, 3101], // a node of a cluster is not ready, or the cluster refused the transaction
]);

/** Numbers of server errors that the store handles itself. */
const handledErrors = {
  /** A deadlock, or a row that changed since the transaction read it: the transaction was undone and can be repeated at once. */
  conflict: [1213, 1020],
  missingTable: [1146],
  missingColumn: [1054],
} as const;

/** What a server error means or what to do about it, by its number. */
const hints: Readonly<Record<number, string>> = {
  1044: "this user has no access to this database",
  1045: "the user name or the password is wrong",
  1049: "the database does not exist: create it, or name another one in the options of the pool",
  1046: "no database is selected: name one in the options of the pool",
  1142: "this user has no permission for this: grant SELECT, INSERT, UPDATE and DELETE on the tables, for migrations also CREATE and CREATE VIEW",
  1146: "the tables are missing: run `stepfold migrate --store URL`, or pass migrate: true",
  1153: "a statement is larger than max_allowed_packet: raise it on the server, and open the store again",
  1461: "max_prepared_stmt_count is reached: raise it on the server, or use smaller pools",
  1665: "binlog_format is STATEMENT: set it to ROW or MIXED",
};

/**
 * Converts an error of the server, the driver or the network into a `StepfoldError`. An error that is a `StepfoldError` already is returned
 * as it is. The server's message is only in `cause`, because it may quote values of users.
 */
export function mysqlError(cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const { code, errno } = detailsOf(cause);
  const isUnavailable = errno > 0 ? passing.has(errno) : isConnectionCode(code);
  const what = [code, errno > 0 ? `(${errno})` : ""].filter(Boolean).join(" ") || "the driver failed";
  const hint = hints[errno];
  const details = { store: "mysql", reason: hint ? `${hint} [${what}]` : what };
  return new StepfoldError(isUnavailable ? "STORE_UNAVAILABLE" : "STORE_REJECTED", details, { cause });
}

/** True for an error of the server of this kind. */
export function isServerError(cause: unknown, kind: keyof typeof handledErrors): boolean {
  return (handledErrors[kind] as readonly number[]).includes(detailsOf(cause).errno);
}

/** True if it would not help to send the writes of a failed group one by one. */
export function failsForEveryWrite(cause: unknown): boolean {
  return mysqlError(cause).code === "STORE_UNAVAILABLE";
}

/** True for codes of the operating system, of the driver's protocol, and of a pool that is closed or has no connection left. */
function isConnectionCode(code: string): boolean {
  return /^(E[A-Z]+|PROTOCOL_\w+|POOL_\w+)$/.test(code) && !code.startsWith("ER_");
}

/** Returns code and number of an error: "" and 0 if it has none. An error of a pool or of an ended connection gets a code here. */
function detailsOf(cause: unknown): { code: string; errno: number } {
  const { code, errno, message, fatal } = (cause ?? {}) as { code?: unknown; errno?: unknown; message?: unknown; fatal?: unknown };
  // errors of the pool have no code, and neither has the error of a connection that ended before the statement was sent
  const isPool = /^(Pool is closed|No connections available|Queue limit reached)/.test(String(message));
  const named = code ?? (isPool ? "POOL_EXHAUSTED" : fatal === true ? "ECLOSED" : "");
  return { code: typeof named === "string" ? named : "", errno: typeof errno === "number" ? errno : 0 };
}
