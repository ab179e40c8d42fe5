import { StepfoldError } from "stepfold";
import type { ForkOptions } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import type { LoadedConfig } from "../config/config.ts";
import { jsonArgument } from "../json/json-argument.ts";

type Definition = ForkOptions["definition"];

/** Returns what `--definition` gives: the id of a workflow of the config, or a definition (a JSON file, or JSON). @throws BadInput */
export async function givenDefinition(text: string | undefined, { workflows = [] }: LoadedConfig): Promise<Definition> {
  const ids = workflows.map((one) => (one as { readonly id?: unknown }).id);
  if (text === undefined || ids.includes(text)) return text;
  try {
    return (await jsonArgument(text, "--definition")) as Definition;
  } catch (error) {
    if (!(error instanceof BadInput) || error.code !== "FILE_NOT_FOUND" || text.startsWith("@")) throw error;
    const known = ids.length === 0 ? "has no workflows" : `has: ${ids.slice(0, 20).join(", ")}${ids.length > 20 ? ", ..." : ""}`;
    throw new BadInput("FILE_NOT_FOUND", `--definition ${text}: there is no such file, and the config ${known}`, {
      hint: "--definition takes the id of a workflow of the config, @FILE, or JSON",
      cause: error,
    });
  }
}

/**
 * Calls `use` with what `--definition` gives. If nothing can go on with it, the hint says so: what the execution follows itself is not at fault.
 *
 * @throws BadInput
 */
export async function withDefinition<T>(
  text: string | undefined,
  config: LoadedConfig,
  use: (definition: Definition) => Promise<T>,
): Promise<T> {
  const definition = await givenDefinition(text, config);
  try {
    return await use(definition);
  } catch (error) {
    if (text === undefined) throw error;
    if (StepfoldError.is(error, "DEFINITION_INVALID"))
      throw refused(error, "Nothing was changed. Mend what --definition names, and give the same command again");
    if (StepfoldError.is(error, "DEFINITION_CHANGED"))
      throw refused(error, "Nothing was changed. --definition must name a version of the same workflow that has these nodes");
    throw error;
  }
}

function refused(error: StepfoldError<"DEFINITION_INVALID" | "DEFINITION_CHANGED">, hint: string): BadInput {
  return new BadInput(error.code, error.message, { hint, details: { ...error.details }, cause: error });
}
