import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";

/** Converts an error of the toy database. A call that no server answered is STORE_UNAVAILABLE, because it may succeed later. */
export function toyError(cause: unknown): StepfoldError {
  if (StepfoldError.is(cause)) return cause;
  const { code, message = String(cause) } = (cause ?? {}) as { code?: unknown; message?: string };
  const isUnavailable = code === "ECONNREFUSED";
  return new StepfoldError(isUnavailable ? "STORE_UNAVAILABLE" : "STORE_REJECTED", { store: "toy", reason: message }, { cause });
}
