import type { ErrorInfo, Explanation, Json, Snapshot, WaitInfo } from "stepfold";
import type { ExecutionView } from "stepfold/client";
import { type CompiledWorkflow, explain, runNumbers, waits } from "stepfold/core";
import type { Audience } from "./audience.ts";
import { maxViewedBytes, seenValue } from "./cut-value.ts";

/** The most waits that a view has. */
const maxWaits = 100;

/** What a view is made of. */
export interface ViewParts {
  readonly snapshot: Snapshot;
  /** The workflow that the execution follows; null if its definition is gone, so the explanation has fewer details. */
  readonly workflow: CompiledWorkflow | null;
  readonly lease: ExecutionView["lease"];
  /** Why no living worker can run it. Null: nothing is known of that. */
  readonly noWorker: string | null;
  readonly storeNow: number;
}

/** Returns the state of an execution as a caller sees it. */
export function executionView({ snapshot, workflow, lease, noWorker, storeNow }: ViewParts, sees: Audience): ExecutionView {
  const { workflowId, incarnation = "", definition, status, version, createdAt = null, metadata, steps, sizeBytes } = snapshot;
  const { tenant, from, parent, deadlineAt, parked, error, output } = snapshot;
  const open = waits(snapshot);
  const explanation = seenExplanation(explain(snapshot, workflow ?? undefined, { messages: sees.values }), sees);
  return {
    ...{ workflowId, incarnation, definition, status, version, createdAt, metadata, steps, sizeBytes },
    ...runNumbers(snapshot),
    ...(tenant !== undefined && { tenant }),
    ...(from && { from }),
    ...(parent && { parent }),
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(parked && { parked: sees.values ? parked : { ...parked, message: "" } }),
    error: error ? seenError(error, sees) : null,
    ...(output !== undefined && { output: seenValue(output, sees.values, maxViewedBytes) }),
    // what the reason quotes is of the definition, which everybody sees who sees the execution
    explanation: noWorker === null ? explanation : { ...explanation, noWorker },
    waits: open.slice(0, maxWaits).map((wait) => seenWait(wait, sees, maxViewedBytes)),
    waitCount: open.length,
    lease,
    storeNow,
  };
}

/** Returns a wait as a caller sees it. @param maxBytes a larger payload is told by its size */
export function seenWait(wait: WaitInfo, { values, payloads }: Audience, maxBytes?: number): WaitInfo {
  const { payload, schema, refused, ...told } = wait;
  // an incident quotes the error of a step; a schema may have been made from data
  const seesPayload = wait.kind === "incident" ? values : payloads;
  return {
    ...told,
    ...(payload !== undefined && { payload: seenValue(payload, seesPayload, maxBytes) as Json }),
    ...(schema !== undefined && payloads && { schema }),
    ...(refused && { refused: payloads ? refused : { ...refused, issues: [] } }),
  };
}

function seenExplanation(explanation: Explanation, sees: Audience): Explanation {
  const places = explanation.places.map((place) => ({ ...place, waits: place.waits.map((wait) => seenWait(wait, sees, maxViewedBytes)) }));
  return { ...explanation, places };
}

function seenError(error: ErrorInfo, { values }: Audience): ErrorInfo {
  if (values) return error;
  const { name, code, nodeId, notUndone, cause } = error;
  return {
    ...{ name, message: "" },
    ...(code !== undefined && { code }),
    ...(nodeId !== undefined && { nodeId }),
    ...(notUndone && { notUndone }),
    ...(cause && { cause: { ...seenError(cause, { values, payloads: false }), item: cause.item } }),
  };
}
