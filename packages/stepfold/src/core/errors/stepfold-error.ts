import { catalogue } from "./catalogue.ts";
import type { ErrorCode, ErrorDetails } from "./error-details.ts";
import { cutDetails } from "./error-text.ts";
import { safeMember } from "./safe-member.ts";

/**
 * The error class that the functions of this library throw. Switch on `code`, never on `message`.
 *
 * ```ts
 * try {
 *   await run.resume({ payload: { approved: true } });
 * } catch (error) {
 *   if (StepfoldError.is(error, "RESUME_AMBIGUOUS")) console.log(error.details.waits);
 *   else throw error;
 * }
 * ```
 */
export class StepfoldError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = "StepfoldError";
  readonly code: C;
  readonly details: ErrorDetails<C>;

  constructor(code: C, details: ErrorDetails<C>, options?: { cause?: unknown }) {
    super(messageOf(code, details), options);
    this.code = code;
    this.details = details;
  }

  /** Recognises errors of a second copy of this package in the same process. A getter, so that printed errors do not show it. */
  get "~stepfoldError"(): true {
    return true;
  }

  /** Whether the same call may succeed if simply made again. */
  get retryable(): boolean {
    return catalogue[this.code].retryable;
  }

  /** The HTTP status that fits. */
  get status(): number {
    return catalogue[this.code].status;
  }

  /** Plain data for logs and HTTP bodies: no stack, no cause, and no text of more than 2,000 characters. */
  toJSON(): { code: C; message: string; retryable: boolean; details: ErrorDetails<C> } {
    return { code: this.code, message: this.message, retryable: this.retryable, details: cutDetails(this.details, 2_000) };
  }

  /** Narrows `value` to a StepfoldError, of one code if you name one. */
  static is<C extends ErrorCode = ErrorCode>(value: unknown, code?: C): value is StepfoldError<C> {
    if (safeMember(value, "~stepfoldError") !== true) return false;
    return code === undefined || (value as StepfoldError).code === code;
  }
}

/** Returns the message of an error. A detail may be what somebody passed in the place of a text, and not be writable. */
function messageOf<C extends ErrorCode>(code: C, details: ErrorDetails<C>): string {
  try {
    return (catalogue[code].say as (details: ErrorDetails<C>) => string)(cutDetails(details));
  } catch {
    return `${code}: a value has a type that it must not have`;
  }
}
