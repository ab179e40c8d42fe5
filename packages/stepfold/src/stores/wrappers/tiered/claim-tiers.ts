import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { Claim, Claimed, ClaimOptions, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { firstRow } from "../values/read-all.ts";
import { isCopy, isUnfinished, pendingOf, unfinishedHead, unmarked } from "./cold-copy.ts";
import { headOf, type Tiers } from "./copy-execution.ts";
import { liveInCold } from "./load-cold.ts";
import { isStub, isStubAt } from "./redirect.ts";

/** Fences of the cold store begin above this: no claim of one store may pass for one of the other, and they rise with a move. */
const coldFences = 2 ** 32;

/** The fence as the cold store knows it; null if it is one of the hot store. */
export function coldFence(fence: number | undefined): number | null {
  return fence !== undefined && fence > coldFences ? fence - coldFences : null;
}

/** First what is due in the hot store, then, if that is not enough, in the cold one. */
export async function claimFromTiers(tiers: Tiers, options: ClaimOptions): Promise<readonly Claimed[]> {
  const found: Claimed[] = [...(await tiers.hot.claim(options))];
  const places = options.workflowId === undefined ? options.limit - found.length : 1 - found.length;
  if (places <= 0) return found;
  try {
    for (const claimed of await tiers.cold.claim({ ...options, limit: places })) {
      const counts = await claimedInCold(tiers, claimed);
      if (counts) found.push(counts);
    }
  } catch (error) {
    // what was claimed is to be driven, whatever became of the rest: that is claimed again after its lease
    if (found.length === 0) throw error;
  }
  return found;
}

/** Null for what must not be driven. What is given back at once was not lost by a holder that died. */
async function claimedInCold(tiers: Tiers, { claim, snapshot }: Claimed): Promise<Claimed | null> {
  const { hot, cold } = tiers;
  const { workflowId, fence } = claim;
  if (!isCopy(snapshot)) {
    await cold.release(claim, snapshot.version);
    return null;
  }
  const inHot = (await firstRow(hot, workflowId)) ? await hot.load(workflowId) : null;
  const hasStub = inHot !== null && isStub(inHot);
  if (inHot && !hasStub) {
    // what is in both counts as hot
    if (!isUnfinished(snapshot)) return null;
    const overtaken = await sendToSleep(cold, { claim, snapshot }, inHot).catch((error: unknown) => error);
    if (overtaken !== undefined && !StepfoldError.is(overtaken, "VERSION_CONFLICT")) throw overtaken;
    // it has moved in this moment, and is ours
    const moved = overtaken === undefined ? null : await cold.load(workflowId);
    return moved && claimedInCold(tiers, { claim, snapshot: moved });
  }
  const live = isUnfinished(snapshot) ? await liveInCold(cold, workflowId, hasStub) : snapshot;
  return live && { claim: { ...claim, fence: fence + coldFences }, snapshot: unmarked(live) };
}

/**
 * Gives back the copy of an execution that has gone on in the hot store. What it lacks is no longer the end: with that it
 * does not wake up again. It must not get as far as the execution, or the next move could not add an end.
 */
async function sendToSleep(cold: SnapshotStore, { claim, snapshot }: Claimed, inHot: Snapshot): Promise<void> {
  const pending = pendingOf(snapshot);
  const { workflowId, incarnation, fence } = claim;
  const expectedVersion = snapshot.version;
  const version = expectedVersion + 1;
  if (!pending || inHot.incarnation !== incarnation || inHot.version < version + 2) return cold.release(claim, expectedVersion);
  const commit = { workflowId, incarnation, expectedVersion, fence, commitId: pending.row.commitId, events: [pending.row.event] };
  await cold.commit({ ...commit, head: unfinishedHead(headOf(snapshot), version), wakeAt: null, release: true });
}

/** A claim of what was moved since is lost. */
export async function renewInTiers({ hot, cold }: Tiers, claim: Claim): ReturnType<SnapshotStore["renew"]> {
  const fence = coldFence(claim.fence);
  if (fence !== null) return cold.renew({ ...claim, fence });
  const renewed = await hot.renew(claim);
  if (renewed.status !== "cancelled" || !(await isStubAt(hot, claim.workflowId, renewed.version))) return renewed;
  throw new StepfoldError("FENCE_LOST", { workflowId: claim.workflowId });
}

/** Gives a claim back to the store that it is from. */
export function releaseInTiers({ hot, cold }: Tiers, claim: Claim, version: number): Promise<void> {
  const fence = coldFence(claim.fence);
  return fence === null ? hot.release(claim, version) : cold.release({ ...claim, fence }, version);
}
