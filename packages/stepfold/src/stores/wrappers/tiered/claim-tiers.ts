import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import type { Claim, ClaimOptions, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { isCopy, isPartial, lastCommitOf, partialHead } from "./cold-copy.ts";
import { loadCold } from "./load-cold.ts";
import { isRedirect, isRedirectAt } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/** The offset of fences of the cold store, so that claims of the two stores are never confused, and that a move raises the fence. */
const coldFenceOffset = 2 ** 52;

/** Returns the fence as the cold store knows it; null for a fence of the hot store. */
export function coldFence(fence: number | undefined): number | null {
  return fence !== undefined && fence > coldFenceOffset ? fence - coldFenceOffset : null;
}

/** Claims due executions in the hot store, and then, up to the limit, in the cold store. */
export async function claimFromTiers(tiers: Tiers, options: ClaimOptions): Promise<readonly Claim[]> {
  const claimed: Claim[] = [...(await tiers.hot.claim(options))];
  const room = (options.workflowId === undefined ? options.limit : 1) - claimed.length;
  if (room <= 0) return claimed;
  try {
    for (const one of await tiers.cold.claim({ ...options, limit: room })) {
      // a damaged execution stays claimed until its lease ends, and does not keep others from being claimed
      const accepted = await acceptCold(tiers, one).catch(unlessRejected);
      if (accepted) claimed.push(accepted);
    }
  } catch (error) {
    // the caller gets the earlier claims; the others can be claimed again after their leases
    if (claimed.length === 0) throw error;
  }
  return claimed;
}

function unlessRejected(error: unknown): null {
  if (!StepfoldError.is(error, "STORE_REJECTED")) throw error;
  return null;
}

/** Accepts a claim of the cold store if the execution lives there. Else returns null, and releases the claim where that is needed. */
async function acceptCold(tiers: Tiers, claim: Claim): Promise<Claim | null> {
  const { hot, cold } = tiers;
  const { workflowId, fence } = claim;
  const snapshot = await cold.load(workflowId);
  if (snapshot?.incarnation !== claim.incarnation) return null;
  // the execution was not moved there: it belongs to another store
  if (!isCopy(snapshot)) {
    await cold.release(claim, snapshot.version);
    return null;
  }
  const inHot = await hot.load(workflowId);
  const isRedirected = inHot !== null && isRedirect(inHot);
  if (inHot && !isRedirected) {
    // an execution that is in both stores lives in the hot one
    if (!isPartial(snapshot)) return null;
    const refusal = await giveBackPartial(cold, claim, snapshot, inHot).catch((error: unknown) => error);
    if (refusal !== undefined && !StepfoldError.is(refusal, "VERSION_CONFLICT")) throw refusal;
    // the release was refused because the move was finished at this moment: now the claim is for a complete copy
    return refusal === undefined ? null : acceptCold(tiers, claim);
  }
  const live = isPartial(snapshot) ? await loadCold(cold, workflowId, isRedirected) : snapshot;
  return live && { ...claim, version: live.version, sizeBytes: live.sizeBytes, fence: fence + coldFenceOffset };
}

/**
 * Releases the claim of a partial copy whose execution lives in the hot store. If the execution has continued there, the last commit in the
 * mark is not its last one any more. Then this commit is written to the copy like any other, so that the copy is no longer due. The copy
 * must stay behind the version of the execution, because the next move needs a last commit to add.
 */
async function giveBackPartial(cold: SnapshotStore, claim: Claim, snapshot: Snapshot, inHot: Snapshot): Promise<void> {
  const lastCommit = lastCommitOf(snapshot);
  const { workflowId, incarnation, fence } = claim;
  const expectedVersion = snapshot.version;
  const version = expectedVersion + 1;
  const hasGoneOn = inHot.incarnation === incarnation && inHot.version >= version + 2;
  if (!lastCommit || !hasGoneOn) return cold.release(claim, expectedVersion);
  const { commitId, event } = lastCommit.row;
  const head = partialHead(snapshotHead(snapshot), version);
  await cold.commit({ workflowId, incarnation, expectedVersion, fence, commitId, events: [event], head, wakeAt: null, release: true });
}

/** Extends the lease of a claim. If the execution has moved since, the claim is lost. */
export async function renewInTiers({ hot, cold }: Tiers, claim: Claim): ReturnType<SnapshotStore["renew"]> {
  const fence = coldFence(claim.fence);
  if (fence !== null) return cold.renew({ ...claim, fence });
  const renewed = await hot.renew(claim);
  if (renewed.status !== "cancelled" || !(await isRedirectAt(hot, claim.workflowId, renewed.version))) return renewed;
  throw new StepfoldError("FENCE_LOST", { workflowId: claim.workflowId });
}

/** Releases a claim in the store that has made it. */
export function releaseInTiers({ hot, cold }: Tiers, claim: Claim, version: number): Promise<void> {
  const fence = coldFence(claim.fence);
  return fence === null ? hot.release(claim, version) : cold.release({ ...claim, fence }, version);
}
