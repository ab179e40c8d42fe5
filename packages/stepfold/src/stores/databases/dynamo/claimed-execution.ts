import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claimed, Lease } from "../../../ports/snapshot-store.ts";
import { isInvalid } from "./dynamo-error.ts";
import { type Head, rememberHead } from "./dynamo-heads.ts";
import { loadExecution } from "./dynamo-history.ts";
import type { Connection } from "./dynamo-requests.ts";
import { foldAway } from "./fold-children.ts";

/** What was claimed. Null if it is damaged: then it stays claimed until the lease ends, so that it is not tried again and again. */
export function claimedOf(connection: Connection, head: Head, { owner, leaseMs }: Lease, claimedAt: EpochMs): Promise<Claimed | null> {
  return unlessDamaged(async () => {
    const { workflowId, incarnation, fence, crashes } = head;
    rememberHead(connection, head);
    const loaded = await loadExecution(connection, workflowId, head);
    if (!loaded) return null;
    await foldAway(connection, loaded);
    return { claim: { workflowId, incarnation, owner, leaseMs, fence, claimedAt, crashes }, snapshot: loaded.snapshot };
  });
}

/** Null if what is stored is damaged. */
export async function unlessDamaged<T>(work: () => Promise<T | null>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED") || isInvalid(error)) return null;
    throw error;
  }
}
