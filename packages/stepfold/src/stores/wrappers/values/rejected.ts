import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** Makes the error for something that a store holds and that cannot be used. */
export function rejected(store: string, reason: string, cause?: unknown): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store, reason }, { cause });
}

/** What an error means that is not one of ours: a wrapper has no database, so it is a mistake of what was handed in. */
export function unexpectedError(store: string): (cause: unknown) => StepfoldError {
  return (cause) => rejected(store, cause instanceof Error ? cause.message : "an unknown error", cause);
}
