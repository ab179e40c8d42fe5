import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { heldUp } from "../../core/snapshot/address.ts";
import type { RetriedEvent, UnparkedEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { type FoundPath, findPaths, openPaths } from "../../core/snapshot/target.ts";
import type { Asked, CommandStamp } from "./asked.ts";

/** Makes a pending retry due at once, or lets a parked execution continue. */
export interface RetryCommand extends Asked {
  readonly type: "retry";
  /** The node of the retry, by id or address. Default: the retry that is due first. */
  readonly node?: string | undefined;
}

/** Returns the event of a retry. @throws StepfoldError `RETRY_NOT_PENDING`, `OPTION_INVALID` */
export function retryEvent(snapshot: Snapshot, { node }: RetryCommand, stamp: CommandStamp): RetriedEvent | UnparkedEvent {
  const { parked, ending } = snapshot;
  const all = [...(node === undefined ? openPaths(snapshot) : findPaths(snapshot, node))];
  // without a node, the parked execution continues; if compensations have failed, also with the node of an open path
  if (parked && (node === undefined || (ending?.again && all.length > 0))) return { type: "unparked", ...stamp };
  // if an item waits for a place in its map, its retry would not be made now, so any other retry comes before it
  const first = earliest(all.filter(({ scope }) => !heldUp(snapshot, scope))) ?? earliest(all);
  if (!first) throw new StepfoldError("RETRY_NOT_PENDING", { workflowId: snapshot.workflowId, ...(node !== undefined && { node }) });
  return { type: "retried", ...stamp, ...(first.scope !== "" && { scope: first.scope }), pathId: first.path.id };
}

/** Returns the path whose retry is due first; null if no retry is pending. */
function earliest(all: readonly FoundPath[]): FoundPath | null {
  let first: FoundPath | null = null;
  for (const found of all) {
    if (found.path.status === "retrying" && (!first || (found.path.nextRetryAt ?? 0) < (first.path.nextRetryAt ?? 0))) first = found;
  }
  return first;
}
