import { StepfoldError } from "../../errors/stepfold-error.ts";

/** Returns a text that may be kept as a name. @throws StepfoldError `OPTION_INVALID` */
export function checkedName(option: string, value: unknown): string {
  if (typeof value === "string" && value.length > 0 && value.length <= 1_000 && !/\p{Surrogate}/u.test(value)) return value;
  throw new StepfoldError("OPTION_INVALID", { option, reason: "must be text of 1 to 1,000 characters" });
}
