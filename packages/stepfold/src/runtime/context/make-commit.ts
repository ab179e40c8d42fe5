import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { closedHead, takeChanges } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { wakeAt } from "../../core/transition/draft/draft-status.ts";
import type { Claim, Commit } from "../../ports/snapshot-store.ts";

/**
 * The commit that makes `events` durable; `draft` is the execution after them. It takes the changes out of the draft, so
 * it is called once for each commit.
 *
 * @param holder the claim under which the commit is made, and whether the commit gives it back
 */
export function makeCommit(
  draft: Draft,
  events: readonly Event[],
  commitId: string,
  holder?: { readonly claim: Claim; readonly release: boolean },
): Commit {
  const { workflowId, incarnation } = draft;
  if (incarnation === undefined)
    throw new StepfoldError("SNAPSHOT_INVALID", { pointer: "/incarnation", reason: "is missing: the snapshot is not from a store" });
  const commit = {
    workflowId,
    incarnation,
    expectedVersion: draft.version - events.length,
    commitId,
    head: closedHead(draft),
    events,
    children: takeChanges(draft),
    wakeAt: wakeAt(draft),
  };
  return holder ? { ...commit, fence: holder.claim.fence, release: holder.release } : commit;
}
