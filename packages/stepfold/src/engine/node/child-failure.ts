import type { ErrorInfo } from "../../core/errors/error-info.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import type { ChildEnd } from "../../core/snapshot/parts/message.ts";

/**
 * The error of a step whose detached execution did not complete, or whose signal could not arrive: the error of the other execution, with
 * its name, code, details and cause. A retry of the step starts another execution, or sends the signal again.
 */
export class ChildFailure extends Error {
  override readonly name: string;
  readonly code: string | undefined;
  /** The whole error. By this mark, a second copy of this package in the same process recognises it. */
  readonly "~childFailure": Partial<ErrorInfo>;

  constructor({ status, error = {} as Partial<ErrorInfo> }: Pick<ChildEnd, "status"> & { readonly error?: Partial<ErrorInfo> }) {
    const cancelled = status === "cancelled";
    super(error.message ?? (cancelled ? "The workflow was cancelled" : "The workflow has failed"));
    this.name = error.name ?? "Error";
    this.code = error.code ?? (cancelled ? "EXECUTION_CANCELLED" : undefined);
    this["~childFailure"] = error;
    // where this error was made says nothing about where the other execution has failed
    Object.defineProperty(this, "stack", { value: undefined });
  }
}

/** Returns the error of the other execution that a ChildFailure carries, also one of another copy of this package; else undefined. */
export function carriedError(thrown: unknown): Partial<ErrorInfo> | undefined {
  return safeMember(thrown, "~childFailure") as Partial<ErrorInfo> | undefined;
}
