import { type CompiledWorkflow, type Snapshot, StepfoldError } from "stepfold";
import { compile } from "stepfold/core";
import { expressionLanguage } from "stepfold/expressions";
import type { Store } from "./database.ts";

/** Loads the workflow that an execution was started with; null if the database lacks it, or this version cannot read it. */
export async function storedWorkflow(
  store: Pick<Store, "getDefinition">,
  { definition }: Pick<Snapshot, "definition">,
): Promise<CompiledWorkflow | null> {
  const stored = await store.getDefinition(definition.hash);
  if (!stored) return null;
  try {
    // the command only shows it, so the node types do not matter
    return compile(stored, expressionLanguage, undefined, { isStored: true });
  } catch (error) {
    if (StepfoldError.is(error, "DEFINITION_INVALID")) return null;
    throw error;
  }
}
