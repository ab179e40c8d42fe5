import type { ForkOptions } from "stepfold/runtime";
import type { StepfoldConfig } from "../config/config.ts";
import { jsonArgument } from "../json/json-argument.ts";

/** The definition that `--definition` names: the id of one of the config, or a JSON file. @throws BadInput */
export async function definitionFor(text: string | undefined, { workflows = [] }: StepfoldConfig): Promise<ForkOptions["definition"]> {
  if (text === undefined || workflows.some((one) => (one as { readonly id?: unknown }).id === text)) return text;
  return (await jsonArgument(text, "--definition")) as ForkOptions["definition"];
}
