import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Makes the error for stored data that cannot be used. */
export function rejected(store: string, reason: string, cause?: unknown): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store, reason }, { cause });
}

/**
 * Turns an unknown error into `STORE_REJECTED`. A wrapper has no database, so such an error is a bug in something that was handed in, for
 * example in the inner store.
 */
export function unexpectedError(store: string): (cause: unknown) => StepfoldError {
  return (cause) => rejected(store, cause instanceof Error ? cause.message : "an unknown error", cause);
}
