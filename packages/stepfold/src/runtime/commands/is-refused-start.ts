import type { ErrorCode } from "../../core/errors/error-details.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** Codes of errors that depend on the start alone, and not on the worker. */
const refusals: readonly ErrorCode[] = [
  ...(["OPTION_INVALID", "LIMIT_EXCEEDED", "VALUE_NOT_JSON", "INPUT_INVALID", "START_AMBIGUOUS"] as const),
  ...(["EXPRESSION_FAILED", "EXPRESSION_BUDGET", "DURATION_INVALID"] as const),
];

/** Whether every worker would refuse this start, because its options or its input are not valid, or expressions fail on its input. */
export function isRefusedStart(error: unknown): boolean {
  return StepfoldError.is(error) && refusals.includes(error.code);
}
