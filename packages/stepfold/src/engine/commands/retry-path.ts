import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { RetriedEvent, UnparkedEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { type FoundPath, findPaths, openPaths } from "../../core/snapshot/target.ts";
import type { EpochMs } from "../../core/values/json.ts";

/** Makes a pending retry due at once; without a node also an execution that is parked. */
export interface RetryCommand {
  readonly type: "retry";
  /** Which one, by node or address. Default: the earliest. */
  readonly node?: string | undefined;
}

/** @throws StepfoldError `RETRY_NOT_PENDING`, `OPTION_INVALID` */
export function retryEvent(
  snapshot: Snapshot,
  { node }: RetryCommand,
  stamp: { readonly version: number; readonly at: EpochMs },
): RetriedEvent | UnparkedEvent {
  if (node === undefined && snapshot.parked) return { type: "unparked", ...stamp };
  const all = node === undefined ? openPaths(snapshot) : findPaths(snapshot, node);
  let first: FoundPath | null = null;
  for (const found of all) {
    if (found.path.status === "retrying" && (!first || (found.path.nextRetryAt ?? 0) < (first.path.nextRetryAt ?? 0))) first = found;
  }
  if (!first) throw new StepfoldError("RETRY_NOT_PENDING", { workflowId: snapshot.workflowId, ...(node !== undefined && { node }) });
  return { type: "retried", ...stamp, ...(first.scope !== "" && { scope: first.scope }), pathId: first.path.id };
}
