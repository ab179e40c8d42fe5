import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { crashesColumnOf, crashesColumnWhenBegun } from "../claims/claim-count.ts";
import { firstPermitOf } from "../claims/first-permit.ts";
import { crashesAfter } from "../claims/guard.ts";
import { rateOwner, waitsForRate } from "../claims/rate-key.ts";
import type { ExecutionGuard, RowChanges, RowWrite } from "../execution-rows.ts";
import { checkpointKey } from "../restoring/restored-snapshot.ts";
import type { WrittenCommit } from "./written-commit.ts";

/**
 * The insert of a new execution. With a lease, the row is claimed from the beginning, with fence 1. With a rate, `rateOwner` owns the row,
 * so it waits in the line of this rate, unless it never becomes due, for example because it has ended already.
 */
export function insertOf({ head: given }: Commit, written: WrittenCommit, lease: Lease | null): RowWrite {
  const { definition, rate } = given;
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
      permit: firstPermitOf(given),
      exemptAt: written.exemptAt ?? null,
      owner: isWaiting ? rateOwner : (lease?.owner ?? null),
      fence: lease ? 1 : 0,
      due: lease ? { inMs: lease.leaseMs } : "atWakeUp",
    },
    history: { commitId, events, children },
  };
}

/**
 * The update for a commit. It is made only if the stored version is `expectedVersion` and the execution has not ended, or, for a commit that
 * opens it again, has ended; with a fence, only if the claim of the sender is still in force.
 */
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
    releasesClaim,
    reopens,
    waitsForRate: isInLine,
    commitId,
    events,
    children: changed,
    checkpoint,
    listed,
    run,
    trimmed,
    exemptAt,
    moved,
  } = commit;
  const written = { version, status, head, sizeBytes, wakeAt };
  const state = {
    ...written,
    ...(checkpoint !== null && { checkpointVersion: version }),
    ...(run && { run }),
    ...(trimmed > 0 && { trimmed }),
    ...(exemptAt !== undefined && { exemptAt }),
  };
  const children = checkpoint === null ? changed : [...changed, { key: checkpointKey, text: checkpoint, moved: false }];
  const history = { commitId, events, children };
  if (fence === null) {
    // this commit does not come from the holder, so the holder keeps its lease, unless the execution ends (`releasesClaim`)
    const changes: RowChanges = { state, ...listed, ...moved, due: "atWakeUp" };
    // nothing is claimed of an execution that has ended, so a claim that it had is not counted as lost when it is opened again
    const set: RowChanges = releasesClaim
      ? { ...changes, owner: null, crashes: 0 }
      : isInLine
        ? { ...changes, owner: rateOwner }
        : { ...changes, dueUnlessHeld: true };
    return { kind: "update", id, when: { incarnation, version: expectedVersion, open: !reopens }, set, history };
  }
  // the commit comes from the holder, so both counts of lost claims start again at 0
  const changes: RowChanges = listed || moved ? { state, ...listed, ...moved, crashes: 0 } : { state, crashes: 0 };
  const set: RowChanges = releasesClaim ? { ...changes, owner: null, due: "atWakeUp" } : changes;
  return { kind: "update", id, when: { incarnation, version: expectedVersion, open: true, fence, held: true }, set, history };
}

/**
 * The update that claims an execution. It is made only if no other claim was made since `guard` was read.
 *
 * @param nextFence the fence of the new claim; see `plannedClaim`
 */
export function claimOf(guard: ExecutionGuard, nextFence: number, lease: Lease, skipLocked: boolean): RowWrite {
  const { id, incarnation, fence, owner } = guard;
  return {
    kind: "update",
    id,
    skipLocked,
    // `held` is true also for a lost holder, whose lease has ended. An execution in the line of a rate may be claimed before it is due
    when: { incarnation, fence, held: owner !== null, ...(!waitsForRate(guard) && { due: true }) },
    set: { owner: lease.owner, fence: nextFence, crashes: crashesAfter(guard), due: { inMs: lease.leaseMs } },
  };
}

/** The update that extends the lease of a claim. It is made only if no other claim was made since. */
export function renewalOf(claim: Claim): RowWrite {
  const { workflowId: id, incarnation, fence, leaseMs } = claim;
  return {
    kind: "update",
    id,
    when: { incarnation, fence, held: true },
    set: { due: { inMs: leaseMs }, crashes: crashesColumnWhenBegun(claim) },
  };
}

/** The update that releases a claim, also if the execution was changed since. */
function releaseAtAnyVersion(claim: Claim): RowWrite & { readonly kind: "update" } {
  const { workflowId: id, incarnation, fence } = claim;
  return {
    kind: "update",
    id,
    when: { incarnation, fence, held: true },
    set: { owner: null, due: "atWakeUp", crashes: crashesColumnOf(claim) },
  };
}

/** The update that releases a claim, only if the execution is still at `version`. */
export function releaseOf(claim: Claim, version: number): RowWrite {
  const write = releaseAtAnyVersion(claim);
  return { ...write, when: { ...write.when, version } };
}
