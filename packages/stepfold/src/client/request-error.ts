/** What a `RequestError` says besides its code and its message. */
export interface RequestErrorFacts {
  /** Default 0. */
  readonly status?: number;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The code is one of the engine's, and not one of the server or the client. */
  readonly isOfEngine?: boolean;
  readonly cause?: unknown;
}

/**
 * A request that was refused, or that has no answer. Decide by `code`, never by `message`. The code is
 *
 * - a code of the engine, such as `WAIT_GONE`. `StepfoldError.is` recognises these errors, so the same code can handle the errors of a runtime and
 *   those of a client;
 * - a code of the server: `UNAUTHENTICATED`, `FORBIDDEN`, `REQUEST_INVALID`, `NOT_FOUND`, `METHOD_NOT_ALLOWED`, `BODY_TOO_LARGE`,
 *   `BODY_TOO_SLOW`, `MEDIA_TYPE`, `HOST_REFUSED`, `RATE_LIMITED`, `SERVER_CLOSED`, `INTERNAL`;
 * - `CONNECTION_LOST`: there is no connection, or it broke before the whole answer had come. `cause` is the error of `fetch`;
 * - `UNEXPECTED_ANSWER`: what came is no answer of this API, for example a page of a proxy, or is longer than 64 MiB.
 *
 * ```ts
 * try {
 *   await client.executions.answer("order-1001", { step: "approve", payload: { approved: true } });
 * } catch (error) {
 *   if (error instanceof RequestError && error.code === "WAIT_GONE") console.log("Somebody else was faster.");
 *   else throw error;
 * }
 * ```
 */
export class RequestError extends Error {
  /** True for a code of the engine: then `StepfoldError.is` recognises this error. */
  readonly "~stepfoldError": boolean;
  override readonly name: string = "RequestError";
  readonly code: string;
  /** The HTTP status. 0: there was no answer. */
  readonly status: number;
  /** Whether the same request may succeed if it is simply made again. */
  readonly retryable: boolean;
  /** The fields that come with the code. Of `UNEXPECTED_ANSWER`: `text`, the first 200 characters of what came. */
  readonly details: Readonly<Record<string, unknown>>;
  /** By this the request is found in the logs of the server. */
  readonly requestId: string | undefined;
  /** How long to wait before the request is made again, if the server has said it. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, facts: RequestErrorFacts) {
    super(message, { cause: facts.cause });
    this["~stepfoldError"] = facts.isOfEngine === true;
    this.code = code;
    this.status = facts.status ?? 0;
    this.retryable = facts.retryable;
    this.details = facts.details ?? {};
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** Plain data for logs: no stack and no cause. */
  toJSON(): Pick<RequestError, "code" | "message" | "status" | "retryable" | "details" | "requestId"> {
    const { code, message, status, retryable, details, requestId } = this;
    return { code, message, status, retryable, details, requestId };
  }
}

/** Makes the error of a request that has no answer, or not a whole one. */
export function connectionLost(cause?: unknown): RequestError {
  return new RequestError("CONNECTION_LOST", "There is no connection to the server, or it broke.", { retryable: true, cause });
}

/** Makes the error of an answer that is none of this API. */
export function unexpectedAnswer(status: number, answer: string, retryAfterMs?: number): RequestError {
  const text = answer.slice(0, 200);
  const message = `The answer, which has the status ${status}, is none of this API: ${text}`;
  return new RequestError("UNEXPECTED_ANSWER", message, { status, retryable: isTransient(status), details: { text }, retryAfterMs });
}

/** True if a request may succeed later that was answered with this status, or not at all (0). */
export function isTransient(status: number): boolean {
  return status === 0 || status === 408 || status === 425 || status === 429 || status >= 500;
}
