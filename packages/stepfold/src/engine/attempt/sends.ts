import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { CompletedEvent } from "../../core/snapshot/event.ts";
import type { RootStart } from "../../core/snapshot/parts/message.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { SendRequest } from "../node/node-definition.ts";
import type { AttemptState } from "./attempt-state.ts";

/** The most messages that one step may send. */
const maxSends = 100;

/** Checks the messages of a step to executions that are not its children. @throws StepfoldError `OUTPUT_INVALID`, `OPTION_INVALID`, ... */
export function sendsOf(
  run: AttemptState,
  requests: unknown,
): { readonly sends: NonNullable<CompletedEvent["sends"]>; readonly sizeBytes: number } {
  const { task, scopeDraft, context } = run;
  const { root } = scopeDraft;
  const refused = (message: string): StepfoldError =>
    new StepfoldError("OUTPUT_INVALID", { nodeId: task.nodeId, issues: [{ pointer: "/__sends", message }] });
  if (scopeDraft !== root || task.undoes) throw refused("can only be used in a step of the execution itself");
  if (root.incarnation === undefined) throw refused("needs a runtime, which delivers it");
  if (!Array.isArray(requests) || requests.length > maxSends) throw refused(`must be a list of at most ${maxSends}`);
  let sizeBytes = 0;
  const keep = (value: unknown, what: string): Json => {
    const kept = normalise(value, what, context.limits);
    sizeBytes += kept.sizeBytes;
    return kept.value;
  };
  const sends = (requests as readonly SendRequest[]).map((request) => {
    const to = "cancel" in request ? request.cancel : request.workflowId;
    if (!isWorkflowId(to)) throw refused("must name an execution by text of 1 to 255 printable characters");
    const schedule = checkedName("schedule", request.schedule);
    if ("cancel" in request) return Object.freeze({ type: "cancelRoot" as const, to, schedule });
    const { start: workflow, input, metadata, at, reports } = request;
    const kept = metadata === undefined ? undefined : keep(metadata, "The metadata of the next execution");
    if (kept !== undefined && !isJsonObject(kept)) throw refused("must have an object as metadata");
    const scheduledBy = Object.freeze({ schedule, workflowId: root.workflowId, at, ...(reports && { reports: true as const }) });
    const message: RootStart = {
      type: "startRoot",
      to,
      workflow: checkedName("start", workflow),
      ...(input !== undefined && { input: keep(input, "The input of the next execution") }),
      ...(kept && { metadata: kept }),
      scheduledBy,
    };
    return Object.freeze(message);
  });
  return { sends: Object.freeze(sends), sizeBytes };
}
