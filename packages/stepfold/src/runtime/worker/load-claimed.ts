import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Claim } from "../../ports/snapshot-store.ts";
import { persist } from "../context/persist.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { TimedClaim } from "../context/timed-claim.ts";
import type { LoadBudget, Room } from "./load-budget.ts";

/** A claimed execution in memory. */
export interface LoadedExecution extends TimedClaim {
  readonly snapshot: Snapshot;
  readonly room: Room;
}

/**
 * Loads a claimed execution once there is room for it. Where there is none in time, its claim is given back: another process may have some.
 *
 * @returns null if it was given back, or is not there any more
 */
export async function loadClaimed(context: RuntimeContext, budget: LoadBudget, timed: TimedClaim): Promise<LoadedExecution | null> {
  const { store, pollMs, environment } = context;
  const { claim, snapshot, askedAtMs } = timed;
  if (snapshot) return { ...timed, snapshot, room: budget.take(snapshot.sizeBytes) };
  // much shorter than the lease, so the claim need not be renewed meanwhile
  const room = await budget.takeWithin(claim.sizeBytes, Math.min(pollMs, claim.leaseMs / 4));
  if (!room) {
    await giveBack(context, claim, claim.version);
    return null;
  }
  try {
    // it may kill this process: from now on that counts
    if (claim.alone) await store.renew(claim);
    // else a store that does not answer once would hold the execution up for a lease
    const loaded = await persist(
      environment,
      () => askedAtMs + claim.leaseMs,
      () => store.load(claim.workflowId),
    );
    if (loaded?.incarnation === claim.incarnation) {
      room.resize(loaded.sizeBytes);
      return { ...timed, snapshot: loaded, room };
    }
    room.free();
    return null;
  } catch (error) {
    room.free();
    throw error;
  }
}

/** Gives a claim back, also if somebody has answered meanwhile. If the store does not answer, it ends with its lease. */
async function giveBack(context: RuntimeContext, claim: Claim, version: number): Promise<void> {
  try {
    await context.store.release(claim, version);
  } catch (error) {
    const actual = StepfoldError.is(error, "VERSION_CONFLICT") ? error.details.actual : null;
    if (actual !== null && actual > version) await giveBack(context, claim, actual);
  }
}
