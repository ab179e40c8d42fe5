import { StepfoldError } from "../errors/stepfold-error.ts";
import { similar } from "./similar.ts";

/**
 * Refuses options that do not exist: otherwise a misspelt option would silently do nothing.
 *
 * @param of the name, for people, of what has the options: `createRuntime`
 * @throws StepfoldError `OPTION_UNKNOWN`, with the option that was probably meant
 */
export function refuseUnknown(of: string, options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const meant = similar(option, known);
    throw new StepfoldError("OPTION_UNKNOWN", { of, option, known, ...(meant !== undefined && { meant }) });
  }
}
