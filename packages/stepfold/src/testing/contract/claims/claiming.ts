import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { claimAndLoad, type LoadedClaim } from "../../claim-and-load.ts";
import { startCommit } from "../../commit-builder.ts";
import { present } from "../../expectations.ts";

/** A lease that outlasts the calls of a case, and is short enough to wait for its end. */
export const leaseMs = 1_500;

/** A lease for cases that wait for its end before the next claim. */
export const shortLeaseMs = 100;

/** A lease for cases that make several claims: it outlasts the case, however slow the machine is. */
export const longLeaseMs = 600_000;

/** Claims one execution, which must be free and due, and loads it. */
export async function claimFree(store: SnapshotStore, workflowId: string, owner = "worker", forMs: number = leaseMs): Promise<LoadedClaim> {
  const [claimed] = await claimAndLoad(store, { owner, leaseMs: forMs, limit: 1, workflowId });
  return present(claimed, `a claim on "${workflowId}"`);
}

/** Creates an execution that is claimed from the start. */
export async function createClaimed(
  store: SnapshotStore,
  workflowId: string,
  forMs: number = leaseMs,
): Promise<{ first: Commit; claim: Claim }> {
  const first = startCommit(workflowId);
  const claim = present(await store.create(first, { claim: { owner: "worker", leaseMs: forMs } }), "the claim of create");
  return { first, claim };
}

/** Claims due executions and returns their ids in the order in which the store gives them. */
export async function dueIds(store: SnapshotStore, limit = 100, forMs: number = leaseMs): Promise<string[]> {
  return (await store.claim({ owner: "poller", leaseMs: forMs, limit })).map(({ workflowId }) => workflowId);
}

/** Claims executions and returns their ids sorted, because executions with different keys may come in any order. */
export async function claimedIds(store: SnapshotStore, asked: Partial<ClaimOptions> = {}): Promise<string[]> {
  return (await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 50, ...asked })).map(({ workflowId }) => workflowId).sort();
}
