import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Claim, ClaimOptions, SnapshotStore } from "../ports/snapshot-store.ts";
import { present } from "./expectations.ts";

/** A claim, and the snapshot that was loaded after it. */
export interface LoadedClaim {
  readonly claim: Claim;
  readonly snapshot: Snapshot;
}

/** Claims executions and loads them, as a worker does. */
export async function claimAndLoad(store: SnapshotStore, options: ClaimOptions): Promise<LoadedClaim[]> {
  const claims = await store.claim(options);
  const snapshots = await Promise.all(claims.map(({ workflowId }) => store.load(workflowId)));
  return claims.map((claim, index) => ({ claim, snapshot: present(snapshots[index], `a snapshot of "${claim.workflowId}"`) }));
}
