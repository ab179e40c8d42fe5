import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { libraryOf } from "./link-workflows.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";

/**
 * Returns a function that finds a workflow by its name, and prepares it on first use. The function throws `DEFINITION_UNKNOWN` for an
 * unknown name, and `DEFINITION_INVALID` for a workflow that cannot run.
 */
export function namedWorkflows(
  own: PreparedWorkflow,
  workflows: readonly unknown[],
  prepare: (definition: unknown) => PreparedWorkflow,
): (name: string) => PreparedWorkflow {
  const { id } = own.compiled.definition;
  const library = libraryOf(workflows);
  const known = new Map([[id, own]]);
  return (name) => {
    let found = known.get(name);
    if (!found) {
      const definition = library(name);
      if (definition === undefined)
        throw new StepfoldError("DEFINITION_UNKNOWN", {
          workflow: name,
          known: [id, ...workflows.map((workflow) => String(safeMember(workflow, "id")))],
        });
      found = prepare(definition);
      known.set(name, found);
    }
    return found;
  };
}
