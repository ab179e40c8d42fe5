import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import type { Claim, ClaimOptions, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { isCopy, isPartial, lastCommitOf, partialHead } from "./cold-copy.ts";
import { loadCold } from "./load-cold.ts";
import { isRedirect, isRedirectAt } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/** Added to fences of the cold store: a claim of one store is never taken for one of the other, and fences rise with a move. */
const coldFenceOffset = 2 ** 52;

/** Gives the fence as the cold store knows it; null for a fence of the hot store. */
export function coldFence(fence: number | undefined): number | null {
  return fence !== undefined && fence > coldFenceOffset ? fence - coldFenceOffset : null;
}

/** Claims what is due in the hot store, and then, if there is room, what is due in the cold one. */
export async function claimFromTiers(tiers: Tiers, options: ClaimOptions): Promise<readonly Claim[]> {
  const claimed: Claim[] = [...(await tiers.hot.claim(options))];
  const room = (options.workflowId === undefined ? options.limit : 1) - claimed.length;
  if (room <= 0) return claimed;
  try {
    for (const one of await tiers.cold.claim({ ...options, limit: room })) {
      // what is damaged stays claimed until its lease ends, and keeps no other from being driven
      const accepted = await acceptCold(tiers, one).catch(unlessRejected);
      if (accepted) claimed.push(accepted);
    }
  } catch (error) {
    // the caller gets what was claimed before; the rest can be claimed again after its lease
    if (claimed.length === 0) throw error;
  }
  return claimed;
}

function unlessRejected(error: unknown): null {
  if (!StepfoldError.is(error, "STORE_REJECTED")) throw error;
  return null;
}

/** Accepts a claim of the cold store if the execution lives there; else gives it back, and returns null. */
async function acceptCold(tiers: Tiers, claim: Claim): Promise<Claim | null> {
  const { hot, cold } = tiers;
  const { workflowId, fence } = claim;
  const snapshot = await cold.load(workflowId);
  if (snapshot?.incarnation !== claim.incarnation) return null;
  // no move has put it there: it belongs to another store
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
    // refused: the move was finished at this moment, and the claim is one of a complete copy
    return refusal === undefined ? null : acceptCold(tiers, claim);
  }
  const live = isPartial(snapshot) ? await loadCold(cold, workflowId, isRedirected) : snapshot;
  return live && { ...claim, version: live.version, sizeBytes: live.sizeBytes, fence: fence + coldFenceOffset };
}

/**
 * Gives back a partial copy of an execution that is open in the hot store. If the execution has gone on there, the last commit
 * in the mark is no longer its last: it is committed as an event like any other, so that the copy is not due any more. The copy must
 * not reach the version of the execution, or the next move would have no last commit to add.
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

/** Prolongs a claim. The claim of an execution that has moved since is lost. */
export async function renewInTiers({ hot, cold }: Tiers, claim: Claim): ReturnType<SnapshotStore["renew"]> {
  const fence = coldFence(claim.fence);
  if (fence !== null) return cold.renew({ ...claim, fence });
  const renewed = await hot.renew(claim);
  if (renewed.status !== "cancelled" || !(await isRedirectAt(hot, claim.workflowId, renewed.version))) return renewed;
  throw new StepfoldError("FENCE_LOST", { workflowId: claim.workflowId });
}

/** Gives a claim back to the store that it is from. */
export function releaseInTiers({ hot, cold }: Tiers, claim: Claim, version: number): Promise<void> {
  const fence = coldFence(claim.fence);
  return fence === null ? hot.release(claim, version) : cold.release({ ...claim, fence }, version);
}
