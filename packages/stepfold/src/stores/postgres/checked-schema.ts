import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** @throws StepfoldError `OPTION_INVALID` unless it is an identifier that is safe once it is quoted */
export function checkSchema(schema: string): void {
  if (/^[A-Za-z0-9_]{1,48}$/.test(schema)) return;
  throw new StepfoldError("OPTION_INVALID", { option: "schema", reason: "must be 1 to 48 letters, digits and underscores" });
}
