import { StepfoldError } from "../errors/stepfold-error.ts";
import { similar } from "./similar.ts";

/**
 * Refuses options that are none: a misspelt one would do nothing, and nobody would notice.
 *
 * @param of what the options are of, for people: `createRuntime`
 * @throws StepfoldError `OPTION_UNKNOWN`, with the option that was probably meant
 */
export function refuseUnknown(of: string, options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const meant = similar(option, known);
    throw new StepfoldError("OPTION_UNKNOWN", { of, option, known, ...(meant !== undefined && { meant }) });
  }
}
