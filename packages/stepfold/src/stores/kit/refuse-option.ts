import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** Refuses the value of an option if it is invalid. @throws StepfoldError `OPTION_INVALID` */
export function refuseOption(option: string, isInvalid: boolean, reason: string): void {
  if (isInvalid) throw new StepfoldError("OPTION_INVALID", { option, reason });
}
