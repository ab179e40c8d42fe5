import { StepfoldError } from "stepfold";
import { type ApiScope, idInPath } from "stepfold/client";

/** A code of the server itself. */
export type ServerCode =
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "BODY_TOO_SLOW"
  | "BODY_TOO_LARGE"
  | "MEDIA_TYPE"
  | "HOST_REFUSED"
  | "REQUEST_INVALID"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "SERVER_CLOSED";

/** The codes of the server itself, with their HTTP status and a title. All others are those of the engine. */
const serverCodes: Readonly<Record<ServerCode, readonly [status: number, title: string]>> = {
  UNAUTHENTICATED: [401, "Credentials are missing or do not count"],
  FORBIDDEN: [403, "The caller may not do this"],
  NOT_FOUND: [404, "There is nothing at this address"],
  METHOD_NOT_ALLOWED: [405, "This address takes another method"],
  BODY_TOO_SLOW: [408, "The body did not come in time"],
  BODY_TOO_LARGE: [413, "The body is too large"],
  MEDIA_TYPE: [415, "The body must be JSON"],
  HOST_REFUSED: [421, "The server does not answer under this name"],
  REQUEST_INVALID: [400, "The request is not valid"],
  RATE_LIMITED: [429, "Too many requests"],
  INTERNAL: [500, "Something went wrong in the server"],
  SERVER_CLOSED: [503, "The server is closing"],
};

/** The most characters of a text in the details of a problem. */
const maxDetailLength = 2_000;

/** A request that the server itself refuses. */
export class RefusedRequest extends Error {
  readonly code: ServerCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, string>>;

  /** @param detail what is wrong and what to do, as a sentence @param details the same for programs */
  constructor(
    code: ServerCode,
    detail = "",
    headers: Readonly<Record<string, string>> = {},
    details: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.code = code;
    this.headers = headers;
    this.details = details;
  }
}

/** Errors whose texts may quote what executions hold. */
const quotingValues: readonly string[] = [
  "EXECUTION_FAILED",
  "EXECUTION_CANCELLED",
  "EXECUTION_PARKED",
  "MAP_FAILED",
  "COMPENSATION_FAILED",
];
/** Errors whose texts may quote what a database says of itself: its address, a statement, a row. */
const quotingStores: readonly string[] = [
  "STORE_UNAVAILABLE",
  "STORE_REJECTED",
  "OUTCOME_UNKNOWN",
  "QUEUE_UNAVAILABLE",
  "QUEUE_REJECTED",
  "FEED_UNAVAILABLE",
];

/** Returns the message of an error. Where it says what to do, it names what a caller over HTTP can do. */
function detailOf(error: StepfoldError): string {
  if (StepfoldError.is(error, "START_CONFLICT")) {
    const { workflowId, differs } = error.details;
    return `Execution "${workflowId}" was started before with another ${differs}. Choose another id, or read that one: GET /v1/executions/${idInPath(workflowId)}`;
  }
  if (StepfoldError.is(error, "FORK_REFUSED"))
    return `${error.message}. No route forks an execution: use the command \`stepfold fork\`, or start another execution`;
  return error.message;
}

/** Whose request is refused. */
export interface Refused {
  readonly requestId: string;
  /** What the caller may do: the texts of some errors need `values` or `admin`. Default: nothing. */
  readonly scopes?: readonly ApiScope[];
  /** Gets errors that are not the caller's. */
  readonly onProblem?: ((error: unknown, requestId: string) => void) | undefined;
}

/** Returns the answer that refuses a request, as problem details (RFC 9457). */
export function problemOf(error: unknown, { requestId, scopes = [], onProblem }: Refused): Response {
  if (StepfoldError.is(error)) {
    const { code, status, retryable } = error;
    const needed = quotingValues.includes(code) ? "values" : quotingStores.includes(code) ? "admin" : null;
    const isOpen = needed === null || scopes.includes(needed);
    const { details } = error.toJSON();
    if (status >= 500) void report(onProblem, error, requestId);
    return problem({
      ...{ type: `urn:stepfold:error:${code}`, title: titleOf(code), status, detail: isOpen ? detailOf(error) : titleOf(code) },
      ...{ code, retryable, details: isOpen ? details : {}, requestId },
    });
  }
  const isRefused = error instanceof RefusedRequest;
  if (!isRefused) void report(onProblem, error, requestId);
  const { code, message, headers, details } = isRefused ? error : new RefusedRequest("INTERNAL");
  const [status, title] = serverCodes[code];
  const retryable = status === 408 || status === 429 || status >= 500;
  const told = {
    type: `urn:stepfold:server-error:${code}`,
    title,
    status,
    detail: message || title,
    code,
    retryable,
    details,
    requestId,
  };
  return problem(told, headers);
}

/** Calls `onProblem`, which may be asynchronous. Whatever it does, the caller gets an answer. */
async function report(onProblem: Refused["onProblem"], error: unknown, requestId: string): Promise<void> {
  try {
    await onProblem?.(error, requestId);
  } catch {
    // `onProblem` itself has failed: there is nobody else to tell
  }
}

function titleOf(code: string): string {
  const words = code.toLowerCase().replaceAll("_", " ");
  return `${words[0]!.toUpperCase()}${words.slice(1)}`;
}

function problem(body: { readonly status: number; readonly detail: string }, headers: Readonly<Record<string, string>> = {}): Response {
  const detail = body.detail.slice(0, maxDetailLength);
  return new Response(JSON.stringify({ ...body, detail }), {
    status: body.status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}
