import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Names of errors after which the same call may succeed. */
const passing: ReadonlySet<string> = new Set([
  "InternalServerError",
  "ItemCollectionSizeLimitExceededException",
  "LimitExceededException",
  "NetworkingError",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestTimeout",
  "RequestTimeoutException",
  "ServiceUnavailable",
  "ThrottlingException",
  "TimeoutError",
  "TransactionConflictException",
  "TransactionInProgressException",
  "AbortError",
]);

/** Codes by which a transaction says that it met another, or too many. */
const passingReasons: ReadonlySet<string> = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

/** Codes of the operating system for a connection that failed. */
const brokenConnection = /^(E(AI_AGAIN|CONN\w+|HOSTUNREACH|NETUNREACH|NETDOWN|NOTFOUND|PIPE|TIMEDOUT)|ERR_SOCKET\w*|UND_ERR_\w+)$/;

interface ServiceError {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly $retryable?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: unknown }[];
  readonly Item?: unknown;
}

/** What went wrong in DynamoDB, as one of our errors. */
export function dynamoError(table: string, cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const code = isPassing(cause) ? "STORE_UNAVAILABLE" : "STORE_REJECTED";
  return new StepfoldError(code, { store: "dynamo", reason: reasonOf(table, cause) }, { cause });
}

/** True if the same call may succeed later. */
function isPassing(cause: unknown): boolean {
  const { name, message, code, $retryable, $metadata } = serviceError(cause);
  if (passing.has(name) || $retryable !== undefined) return true;
  if (typeof code === "string" && brokenConnection.test(code)) return true;
  // a client over fetch has no codes
  if (isCongestion(cause) || (name === "TypeError" && /fetch|network/i.test(message))) return true;
  return ($metadata?.httpStatusCode ?? 0) >= 500;
}

/** True if it met another writer or a limit of throughput, and may succeed in a moment. */
export function isCongestion(cause: unknown): boolean {
  const { name, CancellationReasons: reasons = [] } = serviceError(cause);
  if (name !== "TransactionCanceledException") return /Throttl|ThroughputExceeded|Conflict|InProgress|RequestLimit/.test(name);
  const codes = reasons.map(({ Code = "None" }) => Code).filter((code) => code !== "None");
  return codes.length > 0 && codes.every((code) => passingReasons.has(code) || code === "TransactionConflictException");
}

/**
 * What lay there when a condition did not hold: the item, or null if nothing did; undefined if this is another error.
 * Attributes are still in the form of the wire: the client unpacks answers only, no errors.
 */
export function failedCondition(cause: unknown): unknown {
  const { name, Item, CancellationReasons: reasons = [] } = serviceError(cause);
  if (name === "ConditionalCheckFailedException") return Item ?? null;
  if (name !== "TransactionCanceledException") return undefined;
  const failed = reasons.find(({ Code }) => Code === "ConditionalCheckFailed");
  return failed && (failed.Item ?? null);
}

function reasonOf(table: string, cause: unknown): string {
  const { name, message } = serviceError(cause);
  if (name === "ResourceNotFoundException") {
    return `the table "${table}" is missing: make it from dynamoTable("${table}"), call createDynamoTable(client, "${table}"), or run \`stepfold migrate --store URL\``;
  }
  if (name === "ValidationException" && /index/i.test(message)) {
    return `the table "${table}" does not have the indexes of dynamoTable("${table}"): ${message}`;
  }
  if (name === "AccessDeniedException")
    return `the credentials do not allow what the store does in the table "${table}"; see its page in the manual`;
  return `${name}: ${message}`;
}

function serviceError(cause: unknown): ServiceError {
  return typeof cause === "object" && cause !== null ? (cause as ServiceError) : { name: "Error", message: String(cause) };
}
