import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { begunCountOf, countOf } from "../claims/claim-count.ts";
import { crashesAfter } from "../claims/guard.ts";
import { rateKeyOf, rateOwner, waitsForRate } from "../claims/rate-key.ts";
import type { ExecutionGuard, RowChanges, RowWrite } from "../execution-table.ts";
import { checkpointKey } from "../restored-snapshot.ts";
import type { WrittenCommit } from "./written-commit.ts";

/**
 * The row of a new execution, held from the beginning if there is a lease, or if there is a rate: then it lies in the line of that. One that
 * is not due at any time, such as one that has ended, does not.
 */
export function insertOf({ head: { definition, permit, rate } }: Commit, written: WrittenCommit, lease: Lease | null): RowWrite {
  const { workflowId: id, incarnation, version, status, head, sizeBytes, wakeAt, commitId, events, children, listed } = written;
  const isWaiting = rate !== undefined && wakeAt !== null;
  return {
    kind: "insert",
    id,
    row: {
      ...{ incarnation, version, status, head, sizeBytes, wakeAt },
      definitionId: definition.id,
      definition: JSON.stringify(definition),
      ...listed!,
      permit: permit ?? (rate ? { key: rateKeyOf(rate), limit: rate.limit } : null),
      owner: isWaiting ? rateOwner : (lease?.owner ?? null),
      fence: lease ? 1 : 0,
      due: lease ? { inMs: lease.leaseMs } : "atWakeUp",
    },
    history: { commitId, events, children },
  };
}

/** A commit, made only if it follows what is stored and its sender may write. */
export function commitOf(commit: WrittenCommit): RowWrite {
  const {
    workflowId: id,
    incarnation,
    expectedVersion,
    fence,
    version,
    status,
    head,
    sizeBytes,
    wakeAt,
    frees,
    commitId,
    events,
    children: changed,
    checkpoint,
    listed,
  } = commit;
  const written = { version, status, head, sizeBytes, wakeAt };
  const state = checkpoint === null ? written : { ...written, checkpointVersion: version };
  const children = checkpoint === null ? changed : [...changed, { key: checkpointKey, text: checkpoint, last: false }];
  const history = { commitId, events, children };
  if (fence === null) {
    // it leaves the holder its lease
    const changes: RowChanges = { state, ...listed, due: "atWakeUp" };
    const set: RowChanges = frees ? { ...changes, owner: null } : { ...changes, dueUnlessHeld: true };
    return { kind: "update", id, when: { incarnation, version: expectedVersion, open: true }, set, history };
  }
  // the holder is alive
  const changes: RowChanges = listed ? { state, ...listed, crashes: 0 } : { state, crashes: 0 };
  const set: RowChanges = frees ? { ...changes, owner: null, due: "atWakeUp" } : changes;
  return { kind: "update", id, when: { incarnation, version: expectedVersion, open: true, fence, held: true }, set, history };
}

/**
 * Claims an execution as it was read.
 *
 * @param nextFence of the claim; see `newFence`
 */
export function claimOf(guard: ExecutionGuard, nextFence: number, lease: Lease, skipLocked: boolean): RowWrite {
  const { id, incarnation, fence, owner } = guard;
  return {
    kind: "update",
    id,
    skipLocked,
    // the first claim of an execution may be allowed before the time that it was given
    when: { incarnation, fence, held: owner !== null, ...(!waitsForRate(guard) && { due: true }) },
    set: { owner: lease.owner, fence: nextFence, crashes: crashesAfter(guard), due: { inMs: lease.leaseMs } },
  };
}

/** Prolongs a claim that is in force. */
export function renewalOf(claim: Claim): RowWrite {
  const { workflowId: id, incarnation, fence, leaseMs } = claim;
  return { kind: "update", id, when: { incarnation, fence, held: true }, set: { due: { inMs: leaseMs }, crashes: begunCountOf(claim) } };
}

/** Gives back a claim, whoever has changed the execution since. */
function givenBack(claim: Claim): RowWrite & { readonly kind: "update" } {
  const { workflowId: id, incarnation, fence } = claim;
  return { kind: "update", id, when: { incarnation, fence, held: true }, set: { owner: null, due: "atWakeUp", crashes: countOf(claim) } };
}

/** Gives back a claim on an execution that nobody has changed since `version`. */
export function releaseOf(claim: Claim, version: number): RowWrite {
  const write = givenBack(claim);
  return { ...write, when: { ...write.when, version } };
}
