import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import { endedClaim, type Guard, keptClaim } from "../kit/verdict.ts";
import { type Connection, writing } from "./connection.ts";
import { isAnyDue, nextDue } from "./next-due.ts";
import { type HeadRow, snapshotOf } from "./snapshot-row.ts";

/** Takes what is due. */
export function claimDue(connection: Connection, options: CheckedClaim): Claimed[] {
  const { limit } = options;
  // pollers that find nothing do not stand in the way of writers
  if (limit < 1 || !isAnyDue(connection, options, connection.now())) return [];
  return writing(connection, () => {
    const now = connection.now();
    const claimed: Claimed[] = [];
    while (claimed.length < limit) {
      const found = nextDue(connection, options, now, Math.min(limit - claimed.length, 1000));
      if (found.length === 0) break;
      for (const { seq } of found) {
        const one = take(connection, seq, options, now);
        if (one) claimed.push(one);
      }
    }
    return claimed;
  });
}

/** Prolongs a claim. */
export function renewClaim(connection: Connection, claim: Claim): { version: number; status: Status; storeNow: EpochMs } {
  const { workflowId, incarnation, fence, leaseMs } = claim;
  return writing(connection, () => {
    const storeNow = connection.now();
    const row = connection.sql.renew.get(workflowId, incarnation, fence, storeNow + leaseMs);
    const { version, status } = (row ?? endedClaim(claim, guardOf(connection, workflowId))) as Pick<Guard, "version" | "status">;
    return { version, status, storeNow };
  });
}

/** Gives a claim back. */
export function releaseClaim(connection: Connection, claim: Claim, version: number): void {
  const { workflowId, incarnation, fence } = claim;
  writing(connection, () => {
    if (connection.sql.release.run(workflowId, incarnation, fence, version, connection.now()).changes) return;
    keptClaim(claim, version, guardOf(connection, workflowId));
  });
}

function guardOf({ sql }: Connection, workflowId: string): Guard | null {
  return (sql.execution.get(workflowId) ?? null) as unknown as Guard | null;
}

type TakenRow = HeadRow & { readonly fence: number; readonly crashes: number; readonly takesTurns: number };

/** Claims one. Null if what is stored is damaged: it stays claimed until the lease ends, so that it is not tried again and again. */
function take(connection: Connection, seq: number, { owner, leaseMs }: Lease, storeNow: EpochMs): Claimed | null {
  const row = connection.sql.take.get(seq, owner, storeNow + leaseMs) as unknown as TakenRow;
  const { id: workflowId, incarnation, fence, crashes, takesTurns } = row;
  if (takesTurns) connection.sql.lapse.run(seq, storeNow);
  const claim = { workflowId, incarnation, owner, leaseMs, fence, claimedAt: storeNow, crashes };
  try {
    return { claim, snapshot: snapshotOf(connection, row) };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}
