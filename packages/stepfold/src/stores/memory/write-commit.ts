import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { type Shelf, setDue } from "./shelf.ts";
import { headText, type Stored } from "./stored-execution.ts";

/** Puts a new execution on the shelf. */
export function createExecution(shelf: Shelf, commit: Commit, lease: Lease | undefined): Claim | null {
  const { workflowId, commitId, head } = commit;
  const now = shelf.now();
  const taken = shelf.executions.get(workflowId);
  if (taken) {
    if (taken.events[0]?.commitId === commitId) return claimOf(taken, lease, now);
    throw new StepfoldError("WORKFLOW_EXISTS", { workflowId });
  }
  refuseTombstone(shelf, workflowId, now);
  const ended = isTerminal(head.status);
  const stored: Stored = {
    seq: shelf.nextSeq++,
    id: workflowId,
    incarnation: commit.incarnation,
    createdAt: now,
    definitionId: head.definition.id,
    start: JSON.stringify({ definition: head.definition, metadata: head.metadata }),
    events: [],
    children: new Map(),
    head: headText(head),
    version: head.version,
    status: head.status,
    updatedAt: now,
    wakeAt: ended ? null : commit.wakeAt,
    dueAt: null,
    owner: lease && !ended ? lease.owner : null,
    fence: lease && !ended ? 1 : 0,
  };
  append(stored, commit);
  shelf.executions.set(workflowId, stored);
  setDue(shelf, stored, lease && !ended ? now + lease.leaseMs : stored.wakeAt);
  return claimOf(stored, lease, now);
}

/** Applies a commit if it may be; otherwise throws and changes nothing. */
export function commitExecution(shelf: Shelf, commit: Commit): void {
  const { workflowId, incarnation, expectedVersion, fence, head } = commit;
  const stored = shelf.executions.get(workflowId);
  if (stored?.incarnation !== incarnation) {
    throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: null });
  }
  if (stored.events[expectedVersion + 1]?.commitId === commit.commitId) return;
  if (fence !== undefined && !holds(stored, fence)) throw new StepfoldError("FENCE_LOST", { workflowId });
  if (stored.version !== expectedVersion) {
    throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: stored.version });
  }
  if (isTerminal(stored.status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: stored.status });

  const ended = isTerminal(head.status);
  stored.head = headText(head);
  stored.version = head.version;
  stored.status = head.status;
  stored.updatedAt = shelf.now();
  stored.wakeAt = ended ? null : commit.wakeAt;
  append(stored, commit);
  // a commit by somebody else leaves the holder its lease
  if (ended || (commit.release && fence !== undefined)) stored.owner = null;
  if (stored.owner === null) setDue(shelf, stored, stored.wakeAt);
}

/** True if the claim with this fence is the one in force. A lease that ran out counts until somebody else claims. */
export function holds(stored: Stored, fence: number): boolean {
  return stored.owner !== null && stored.fence === fence;
}

function append(stored: Stored, { events, commitId, children = [] }: Commit): void {
  for (const { key, head } of children) {
    if (head) stored.children.set(key, JSON.stringify(head));
    else stored.children.delete(key);
  }
  for (const event of events) stored.events.push({ commitId, event: JSON.stringify(event) });
}

/** The claim made by `create`, if it is still held. */
function claimOf({ id, incarnation, owner, fence }: Stored, lease: Lease | undefined, now: EpochMs): Claim | null {
  return lease && owner === lease.owner && fence === 1
    ? { workflowId: id, incarnation, owner: lease.owner, leaseMs: lease.leaseMs, fence, claimedAt: now }
    : null;
}

function refuseTombstone(shelf: Shelf, workflowId: string, now: EpochMs): void {
  const tombstone = shelf.tombstones.get(workflowId);
  if (!tombstone) return;
  if (tombstone.deletedAt + shelf.retentionMs > now) {
    throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: tombstone.deletedAt });
  }
  shelf.tombstones.delete(workflowId);
}
