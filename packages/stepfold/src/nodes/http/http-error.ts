import { FatalError } from "../../engine/node/fatal-error.ts";
import { RetryAfterError } from "../../engine/node/retry-after-error.ts";

/** Why a call failed. The code is kept with the error in the snapshot. */
export type HttpErrorCode =
  | "HTTP_STATUS"
  | "HTTP_TIMEOUT"
  | "HTTP_NETWORK"
  | "HTTP_ABORTED"
  | "HTTP_REQUEST_INVALID"
  | "HTTP_ADDRESS_REFUSED"
  | "HTTP_REDIRECT"
  | "HTTP_TOO_LARGE"
  | "HTTP_BODY_UNREADABLE";

/** The error of a failed call that may succeed if it is made again. */
export class HttpError extends Error {
  override readonly name: string = "HttpError";
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The error of a failed call that would fail again in the same way. */
export class FatalHttpError extends FatalError {
  override readonly name: string = "HttpError";
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The error of a failed call to a service that said when to call again. */
export class HttpRetryAfterError extends RetryAfterError {
  override readonly name: string = "HttpError";
  readonly code: HttpErrorCode = "HTTP_STATUS";
}

/** True for the errors of this file. They need no wrapping, because they already have a code and a message of ours without secrets. */
export function isHttpError(thrown: unknown): thrown is HttpError | FatalHttpError | HttpRetryAfterError {
  return thrown instanceof HttpError || thrown instanceof FatalHttpError || thrown instanceof HttpRetryAfterError;
}
