import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Claim, SnapshotStore } from "../../ports/snapshot-store.ts";

/**
 * Gives a claim back, even if others have committed since `version`.
 *
 * @throws StepfoldError `STORE_UNAVAILABLE`; then the claim ends with its lease
 */
export async function giveBack(store: Pick<SnapshotStore, "release">, claim: Claim, version: number): Promise<void> {
  try {
    await store.release(claim, version);
  } catch (error) {
    if (!StepfoldError.is(error, "VERSION_CONFLICT")) throw error;
    const { actual } = error.details;
    if (actual !== null && actual > version) await giveBack(store, claim, actual);
  }
}
