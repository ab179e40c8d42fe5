import type { ErrorInfo } from "../../errors/error-info.ts";
import { scopedKey } from "../../snapshot/address.ts";
import type { FailedEvent, ResumedEvent } from "../../snapshot/event.ts";
import type { Wait } from "../../snapshot/parts/wait.ts";
import type { Json, JsonSchema } from "../../values/json.ts";
import { addConsequence } from "../draft/add-result.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import { actedBy, type DraftPath } from "../draft/draft-path.ts";
import { sizeOfWaits, subtractSize } from "../draft/held-size.ts";
import { failPath } from "./fail-path.ts";
import { cancelOthers, leave } from "./leave.ts";

/** The decision about a step that has failed for good. */
export interface IncidentAnswer {
  /** `retry`: the step is performed again, with all its attempts. `skip`: the step counts as completed. `fail`: the scope fails. */
  readonly action: "retry" | "skip" | "fail";
  /** With `skip`: the output of the step. Default: null. */
  readonly output?: Json;
}

/** The schema of an `IncidentAnswer`. */
const answerSchema: JsonSchema = Object.freeze({
  type: "object",
  properties: { action: { enum: ["retry", "skip", "fail"] }, output: {} },
  required: ["action"],
  additionalProperties: false,
});

/** Makes a path whose step has failed for good wait for a decision. */
export function openIncident(
  scope: ScopeDraft,
  path: DraftPath,
  { error, attempt, at: openedAt }: Pick<FailedEvent, "error" | "attempt" | "at">,
): void {
  path.status = "suspended";
  path.turn++;
  path.nextRetryAt = undefined;
  const payload = Object.freeze({ error: error as unknown as Json, attempt });
  const id = scopedKey(scope.key, `${path.id}@${path.turn}`);
  path.waits = Object.freeze([Object.freeze({ id, kind: "incident", openedAt, payload, schema: answerSchema } satisfies Wait)]);
}

/** Carries out the decision about a step that has failed for good. */
export function settleIncident(scope: ScopeDraft, path: DraftPath, wait: Wait, { payload, at, version }: ResumedEvent): void {
  const { action, output = null } = payload as unknown as IncidentAnswer;
  const { error, attempt } = wait.payload as unknown as { readonly error: ErrorInfo; readonly attempt: number };
  subtractSize(scope.root, sizeOfWaits(path.waits!));
  path.waits = undefined;
  path.status = "ready";
  path.turn++;
  path.attempts = 0;
  if (action === "retry") return;
  if (action === "fail") {
    // code gets the failure of its step as the result
    if (scope.workflow.code)
      addConsequence(scope, path.node, {
        ...{ output: error as unknown as Json, timestamp: at, attempt, error: error.message, pathId: path.id, version },
      });
    failPath(scope, path, error, scope.workflow.code ? "error" : undefined, version);
    return;
  }
  path.begun = false;
  path.acted = undefined;
  addConsequence(scope, path.node, { output, timestamp: at, attempt, pathId: path.id, version, ...actedBy(path) });
  cancelOthers(scope, path);
  if (!leave(scope, path, undefined, version) && !scope.workflow.code) scope.output = output;
}
