import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim } from "../../../ports/snapshot-store.ts";
import { endedClaim, keptClaim } from "../../kit/verdict.ts";
import { dueAtOf } from "../../record/due-time.ts";
import { lockedRows } from "./locked.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { changing } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

/** Prolongs a claim. */
export function renewClaim(pool: MysqlPool, tables: Tables, claim: Claim): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { workflowId, incarnation, fence, leaseMs } = claim;
  return changing(pool, async (session) => {
    const stored = (await lockedRows(session, tables, [workflowId])).get(workflowId);
    if (stored?.incarnation === incarnation && stored.fence === fence && stored.owner !== null) {
      const until = stored.now + leaseMs;
      await session.run(`UPDATE ${tables.executions} SET lease_until = ?, due_at = ? WHERE seq = ?`, [until, until, stored.seq]);
    } else {
      endedClaim(claim, stored ?? null);
    }
    const { version, status, now } = stored!;
    return { version, status, storeNow: now };
  });
}

/** Gives a claim back. */
export function releaseClaim(pool: MysqlPool, tables: Tables, claim: Claim, version: number): Promise<void> {
  const { workflowId, incarnation, fence } = claim;
  return changing(pool, async (session) => {
    const stored = (await lockedRows(session, tables, [workflowId])).get(workflowId);
    const isHeld = stored?.incarnation === incarnation && stored.fence === fence && stored.owner !== null;
    if (!isHeld || stored.version !== version) {
      keptClaim(claim, version, stored ?? null);
      return;
    }
    await session.run(`UPDATE ${tables.executions} SET owner = NULL, lease_until = NULL, due_at = ? WHERE seq = ?`, [
      dueAtOf(stored.wakeAt, stored.now),
      stored.seq,
    ]);
  });
}
