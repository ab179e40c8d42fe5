import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { historyCheckpoint } from "../../core/snapshot/history-checkpoint.ts";
import { latestMetadata } from "../../core/snapshot/restore.ts";
import { closeDraft, closedHead, takeChanges, takeListedWaits } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { wakeAt } from "../../core/transition/draft/draft-status.ts";
import { isCheckpointDue } from "../../core/transition/draft/held-size.ts";
import type { Claim, Commit } from "../../ports/snapshot-store.ts";
import type { RuntimeContext } from "./runtime-context.ts";

/**
 * The commit that makes `events` durable; `draft` is the execution after them. It takes the changes out of the draft, so
 * it is called once for each commit.
 *
 * @param holder the claim under which the commit is made, and whether the commit gives it back; absent if the writer holds no claim
 */
export function makeCommit(
  { newCommitId, checkpointBytes }: Pick<RuntimeContext, "newCommitId" | "checkpointBytes">,
  draft: Draft,
  events: readonly Event[],
  holder?: { readonly claim: Claim; readonly release: boolean },
): Commit {
  const { workflowId, incarnation } = draft;
  if (incarnation === undefined)
    throw new StepfoldError("SNAPSHOT_INVALID", {
      pointer: "/incarnation",
      reason: "is missing: only a snapshot that was loaded from a store can be committed",
    });
  const expectedVersion = draft.version - events.length;
  // a run is loaded without the history of the runs before it. Apart from that, an execution that has ended is rarely loaded
  const begins = events.some(({ type }) => type === "continued" || type === "restarted");
  const isCheckpoint = expectedVersion >= 0 && (begins || (!draft.ended && isCheckpointDue(draft, checkpointBytes)));
  draft.committedHistoryBytes = draft.historyBytes;
  const waits = takeListedWaits(draft, expectedVersion < 0 || latestMetadata(events) !== undefined);
  const commit: { -readonly [K in keyof Commit]: Commit[K] } = {
    workflowId,
    incarnation,
    expectedVersion,
    commitId: newCommitId(),
    head: closedHead(draft),
    events,
    children: takeChanges(draft),
    wakeAt: wakeAt(draft),
  };
  if (waits) commit.waits = waits;
  if (isCheckpoint) commit.checkpoint = historyCheckpoint(closeDraft(draft));
  if (holder) {
    commit.fence = holder.claim.fence;
    commit.release = holder.release;
  }
  return commit;
}
