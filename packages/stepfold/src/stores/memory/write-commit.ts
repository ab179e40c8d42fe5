import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { type WrittenCommit, writtenCommit } from "../kit/written-commit.ts";
import { dueAtOf, laterDueAtOf } from "../record/due-time.ts";
import { refusal, repeatedCreation } from "../record/refusal.ts";
import { place, type Shelf, setDue } from "./shelf.ts";
import type { Stored } from "./stored-execution.ts";

/** Puts a new execution on the shelf. */
export function createExecution(shelf: Shelf, commit: Commit, lease: Lease | undefined): Claim | null {
  const { workflowId, incarnation } = commit;
  const { definition, metadata } = commit.head;
  const now = shelf.now();
  const taken = shelf.executions.get(workflowId);
  if (taken) {
    // the claim is as old as its lease, which is when a held one is due
    const claimedAt = lease && taken.owner !== null && taken.dueAt !== null ? taken.dueAt - lease.leaseMs : now;
    return repeatedCreation(commit, taken, taken.events[0]?.commitId ?? null, lease, claimedAt);
  }
  refuseTombstone(shelf, workflowId, now);
  const written = writtenCommit(commit);
  const permit = commit.head.permit ?? null;
  const held = lease && !written.ended && !permit ? lease : null;
  const stored: Stored = {
    seq: shelf.nextSeq++,
    id: workflowId,
    incarnation,
    createdAt: now,
    definitionId: definition.id,
    definition: JSON.stringify(definition),
    metadata: JSON.stringify(metadata),
    permit,
    events: [],
    children: new Map(),
    head: written.head,
    version: written.version,
    status: written.status,
    updatedAt: now,
    wakeAt: written.wakeAt,
    dueAt: null,
    owner: held?.owner ?? null,
    fence: held ? 1 : 0,
    crashes: 0,
  };
  append(stored, written);
  place(shelf, stored);
  setDue(shelf, stored, held ? now + held.leaseMs : dueAtOf(stored.wakeAt, now));
  return held && { workflowId, incarnation, owner: held.owner, leaseMs: held.leaseMs, fence: 1, claimedAt: now, crashes: 0 };
}

/** Applies a commit if it may be; otherwise throws and changes nothing. */
export function commitExecution(shelf: Shelf, commit: Commit): void {
  const written = writtenCommit(commit);
  const { workflowId, incarnation, expectedVersion, fence } = written;
  const stored = shelf.executions.get(workflowId);
  const isNext = stored?.incarnation === incarnation && stored.version === expectedVersion && !isTerminal(stored.status);
  if (!stored || !isNext || (fence !== null && !holds(stored, fence))) {
    const refused = refusal(written, stored ?? null, stored?.events[expectedVersion + 1]?.commitId ?? null);
    if (refused) throw refused;
    return;
  }
  stored.head = written.head;
  stored.version = written.version;
  stored.status = written.status;
  stored.updatedAt = shelf.now();
  stored.wakeAt = written.wakeAt;
  append(stored, written);
  if (fence !== null) stored.crashes = 0;
  // a commit by somebody else leaves the holder its lease
  if (written.frees) letGo(shelf, stored);
  else if (stored.owner === null) setDue(shelf, stored, laterDueAtOf(stored.wakeAt, stored.updatedAt, stored.dueAt));
}

/** True if the claim with this fence is the one in force. A lease that ran out counts until somebody else claims. */
export function holds(stored: Stored, fence: number): boolean {
  return stored.owner !== null && stored.fence === fence;
}

/** Nobody holds it any longer. */
export function letGo(shelf: Shelf, stored: Stored): void {
  stored.owner = null;
  setDue(shelf, stored, dueAtOf(stored.wakeAt, shelf.now()));
}

function append(stored: Stored, { events, commitId, children }: WrittenCommit): void {
  for (const { key, text, last } of children) {
    if (text === null || last) stored.children.delete(key);
    if (text !== null) stored.children.set(key, text);
  }
  for (const { text } of events) stored.events.push({ commitId, event: text });
}

function refuseTombstone(shelf: Shelf, workflowId: string, now: EpochMs): void {
  const tombstone = shelf.tombstones.get(workflowId);
  if (!tombstone) return;
  if (tombstone.deletedAt + shelf.retentionMs > now) {
    throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: tombstone.deletedAt });
  }
  shelf.tombstones.delete(workflowId);
}
