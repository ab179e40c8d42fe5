import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ParkedEvent } from "../../core/snapshot/event.ts";
import { runNumbers } from "../../core/snapshot/parts/lineage.ts";
import { restUntil } from "../../core/snapshot/rest-until.ts";
import type { Parked, Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../core/snapshot/snapshot-head.ts";
import { parkedBy } from "../../core/transition/draft/draft-status.ts";
import { historyBytesOf } from "../../core/transition/draft/held-size.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit } from "../../ports/snapshot-store.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";

/** The most characters of an error message that are kept in the head, which every commit rewrites. */
const maxMessageLength = 1_000;

/**
 * Parks an execution after too many crashes. Only its head is read, because the load of its snapshot may be what killed the processes.
 *
 * @returns the head of the parked execution; null if the execution was deleted
 */
export async function parkCrashed(context: RuntimeContext, claim: Claim): Promise<SnapshotHead | null> {
  const head = await context.store.loadHead(claim.workflowId);
  if (head?.incarnation !== claim.incarnation) return null;
  return park(context, claim, head, afterCrashes(claim, head));
}

/**
 * Parks an execution that this process cannot run, for stores whose claims cannot leave it to others. It is tried again, perhaps by another
 * process, and rests twice as long each time.
 */
export async function parkLacking(
  context: RuntimeContext,
  { claim, snapshot }: { readonly claim: Claim; readonly snapshot: Snapshot },
  error: StepfoldError,
): Promise<Snapshot> {
  const parked = await park(context, claim, snapshotHead(snapshot), whileLacking(error, snapshot, claim.claimedAt));
  return Object.freeze({ ...snapshot, ...parked });
}

async function park(context: RuntimeContext, claim: Claim, before: SnapshotHead, why: Parked): Promise<SnapshotHead> {
  const { store, newCommitId, onProblem } = context;
  const { workflowId } = claim;
  const commit = parkCommit(claim, before, why, newCommitId());
  await store.commit(commit);
  const { head, events } = commit;
  const { version, status } = head;
  publishCommit(context, { workflowId, version, status, ...runNumbers(head), snapshot: null }, events);
  onProblem(workflowId, new StepfoldError("EXECUTION_PARKED", { workflowId, code: why.code, message: why.message }));
  return head;
}

/**
 * Returns why an execution is parked after crashes: several workers in a row died or lost it. It rests until it is retried or cancelled.
 */
function afterCrashes({ crashes, claimedAt: at }: Claim, { activePaths }: SnapshotHead): Parked {
  const nodes = [...new Set(activePaths.filter(({ status }) => status === "ready").map(({ nodeId }) => `"${nodeId}"`))];
  const steps = nodes.length === 0 ? "" : `; steps that were due: ${nodes.slice(0, 5).join(", ")}${nodes.length > 5 ? ", ..." : ""}`;
  const happened = "died while they ran this execution, or lost its claim before they committed anything";
  const message = `${crashes} workers in a row ${happened}${steps}`;
  return { code: "WORKER_CRASHED", message, at };
}

/** Returns why an execution is parked that this worker cannot run, and until when. */
function whileLacking({ code, message }: StepfoldError, { parked }: Snapshot, at: EpochMs): Parked {
  return { code, message: message.slice(0, maxMessageLength), at, until: restUntil(parked, at) };
}

/** The commit that parks an execution and gives its claim back. It is made without the definition, which may be missing. */
function parkCommit(claim: Claim, head: SnapshotHead, why: Parked, commitId: string): Commit {
  const version = head.version + 1;
  const event: ParkedEvent = { type: "parked", version, ...why };
  const historyBytes = (head.historyBytes ?? 0) + historyBytesOf(event);
  return {
    workflowId: claim.workflowId,
    incarnation: claim.incarnation,
    fence: claim.fence,
    release: true,
    expectedVersion: head.version,
    commitId,
    head: { ...head, version, status: "parked", parked: parkedBy(event), historyBytes },
    events: [event],
    wakeAt: why.until ?? null,
  };
}
