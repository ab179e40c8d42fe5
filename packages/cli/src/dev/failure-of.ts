import { StepfoldError } from "stepfold";
import { BadInput } from "../bad-input.ts";

/** Returns an error as data, for the process that serves. */
export function failureOf(error: unknown): { readonly code: string; readonly message: string; readonly hint: string | null } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BadInput) return { code: error.code, message, hint: error.hint };
  return { code: StepfoldError.is(error) ? error.code : "INTERNAL", message, hint: null };
}
