import type { Draft } from "./draft.ts";
import { errorInfo } from "./error-info.ts";
import type { EpochMs, Json } from "./json.ts";
import { normalise } from "./to-json.ts";

/** R9: what follows from an event once its path has moved. With no path left the execution is complete. */
export function settle(draft: Draft, at: EpochMs): void {
  if (draft.ended || draft.paths.length > 0) return;
  try {
    if (draft.workflow.output) draft.output = outputOf(draft, at);
    draft.ended = "completed";
  } catch (error) {
    draft.ended = "failed";
    draft.output = undefined;
    draft.error = errorInfo(error);
  }
}

function outputOf({ workflow, context, version, input, metadata }: Draft, at: EpochMs): Json {
  const scope = workflow.language.executionScope({ context, since: version, input, metadata, at });
  return normalise(workflow.output!.evaluate(scope), `The output of workflow "${workflow.definition.id}"`).value;
}
