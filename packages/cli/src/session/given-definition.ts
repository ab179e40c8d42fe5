import type { ForkOptions } from "stepfold/runtime";
import type { StepfoldConfig } from "../config/config.ts";
import { jsonArgument } from "../json/json-argument.ts";

/** Returns what `--definition` gives: the id of a workflow of the config, or a definition (a JSON file, or JSON). @throws BadInput */
export async function givenDefinition(text: string | undefined, { workflows = [] }: StepfoldConfig): Promise<ForkOptions["definition"]> {
  if (text === undefined || workflows.some((one) => (one as { readonly id?: unknown }).id === text)) return text;
  return (await jsonArgument(text, "--definition")) as ForkOptions["definition"];
}
