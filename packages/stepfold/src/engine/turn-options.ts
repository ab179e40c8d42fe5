import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { defaultLimits, type Limits } from "../core/values/limits.ts";

/** Default timeout of one attempt: long enough for a call, short enough to end a step that hangs. */
const defaultStepTimeoutMs = 600_000;

/** The limits that apply: the defaults, where nothing else is said. @throws StepfoldError `OPTION_INVALID` */
export function readLimits(given: Partial<Limits> | undefined): Limits {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(defaultLimits, name))
      throw new StepfoldError("OPTION_INVALID", {
        option: `limits.${name}`,
        reason: `is no limit. There are: ${Object.keys(defaultLimits).join(", ")}`,
      });
    if (typeof value !== "number" || !(value >= 1))
      throw new StepfoldError("OPTION_INVALID", { option: `limits.${name}`, reason: "must be a number from 1 on" });
  }
  return Object.freeze({ ...defaultLimits, ...given });
}

/** The timeout that applies where neither node nor type says. @throws StepfoldError `OPTION_INVALID` */
export function readStepTimeout(given: number = defaultStepTimeoutMs): number {
  if (typeof given === "number" && given > 0) return given;
  throw new StepfoldError("OPTION_INVALID", { option: "stepTimeoutMs", reason: "must be a number above 0" });
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkTurnOptions(options: { readonly stepLimit?: unknown; readonly concurrency?: unknown }): void {
  if (typeof options !== "object" || options === null)
    throw new StepfoldError("OPTION_INVALID", { option: "request", reason: "must be an object" });
  for (const option of ["stepLimit", "concurrency"] as const) {
    const value = options[option];
    if (value !== undefined && !(value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= 1))) {
      throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number from 1 on" });
    }
  }
}
