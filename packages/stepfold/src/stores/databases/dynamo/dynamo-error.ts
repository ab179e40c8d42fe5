import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Names of errors after which the same call may succeed. */
const passing = /^(AbortError|InternalServerError|NetworkingError|RequestTimeout\w*|ServiceUnavailable|TimeoutError)$|LimitExceeded/;

/** Names of errors, and of reasons of refused transactions, that come from another writer or a limit of throughput and pass in a moment. */
const congestion = /Throttl|ThroughputExceeded|Conflict|InProgress|RequestLimit/;

/** Error codes of the operating system and of Node.js for a connection that failed. */
const brokenConnection = /^(E(AI_AGAIN|CONN\w+|HOSTUNREACH|NETUNREACH|NETDOWN|NOTFOUND|PIPE|TIMEDOUT)|ERR_SOCKET\w*|UND_ERR_\w+)$/;

interface ServiceError {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly $retryable?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** For a refused transaction: one reason for each action; `None` for an action that was not the cause. */
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

/** Converts an error of DynamoDB, of the SDK or of the network into a `StepfoldError`. */
export function dynamoError(table: string, cause: unknown): StepfoldError {
  const code = isPassing(cause) ? "STORE_UNAVAILABLE" : "STORE_REJECTED";
  return new StepfoldError(code, { store: "dynamo", reason: reasonOf(table, serviceError(cause)) }, { cause });
}

/** Makes the error for stored data that this store did not write. @param what a sentence, such as `the record "x" is damaged` */
export function dynamoDamage(what: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "dynamo", reason: what });
}

/** True if a call failed only because of other writers or limits of throughput, so the same call may succeed in a moment. */
export function isCongestion(cause: unknown): boolean {
  const { name } = serviceError(cause);
  if (name !== "TransactionCanceledException") return congestion.test(name);
  const codes = refusalsOf(cause);
  return codes.length > 0 && codes.every((code) => congestion.test(code));
}

/** True if a condition of the write did not hold. */
export function isFailedCondition(cause: unknown): boolean {
  return serviceError(cause).name === "ConditionalCheckFailedException" || refusalsOf(cause).includes("ConditionalCheckFailed");
}

/** True if the same call may succeed later. */
function isPassing(cause: unknown): boolean {
  const { name, message, code, $retryable, $metadata } = serviceError(cause);
  if (passing.test(name) || $retryable !== undefined || isCongestion(cause)) return true;
  if (typeof code === "string" && brokenConnection.test(code)) return true;
  // a client that uses fetch reports no error codes
  return (name === "TypeError" && /fetch|network/i.test(message)) || ($metadata?.httpStatusCode ?? 0) >= 500;
}

function reasonOf(table: string, { name, message }: ServiceError): string {
  if (name === "ResourceNotFoundException") {
    return `the table "${table}" is missing: make it from dynamoTable("${table}"), call createDynamoTable(client, "${table}"), or run \`stepfold migrate --store URL\``;
  }
  if (name === "ValidationException" && /index/i.test(message)) {
    return `the table "${table}" does not have the indexes of dynamoTable("${table}"): ${message}`;
  }
  if (name === "AccessDeniedException")
    return `the credentials do not allow all requests of the store to the table "${table}"; docs/stores/dynamo.md lists them`;
  return `${name}: ${message}`;
}

/** Returns the reasons why a transaction was refused; none for other errors. */
function refusalsOf(cause: unknown): string[] {
  return (serviceError(cause).CancellationReasons ?? []).map(({ Code = "None" }) => Code).filter((code) => code !== "None");
}

function serviceError(cause: unknown): ServiceError {
  return typeof cause === "object" && cause !== null ? (cause as ServiceError) : { name: "Error", message: String(cause) };
}
