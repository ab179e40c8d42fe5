import type { ErrorCode } from "../../core/errors/error-details.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";

const refusals: readonly ErrorCode[] = [
  ...(["OPTION_INVALID", "LIMIT_EXCEEDED", "VALUE_NOT_JSON", "INPUT_INVALID", "START_AMBIGUOUS"] as const),
  ...(["EXPRESSION_FAILED", "EXPRESSION_BUDGET", "DURATION_INVALID"] as const),
];

/** Whether every worker would refuse a start: by what it begins with, or by what expressions of its workflow make of that. */
export function isRefusedStart(error: unknown): boolean {
  return StepfoldError.is(error) && refusals.includes(error.code);
}
