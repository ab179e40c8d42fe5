import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../record/checked-store.ts";
import { dueSpans } from "../record/due-time.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import type { Connection, TextRow } from "./connection.ts";
import { idOf, plainText, wholeText } from "./plain-text.ts";
import { loadSnapshots } from "./read-executions.ts";
import { readGuard } from "./stored-guard.ts";

/** Takes what is due. What is damaged stays claimed until the lease ends, so that it is not tried again and again. */
export async function claimDue(connection: Connection, options: CheckedClaim): Promise<Claimed[]> {
  const { owner, leaseMs, limit, workflowId, overdueMs } = options;
  const { ask, askAnew, sql } = connection;
  const claimed: Claimed[] = [];
  for (const { from, behindMs } of dueSpans(overdueMs)) {
    while (claimed.length < limit) {
      const most = workflowId === undefined ? Math.min(limit - claimed.length, 1000) : 1;
      const which = workflowId === undefined ? wholeText(most) : plainText(workflowId);
      const values = [plainText(owner), wholeText(leaseMs), which, wholeText(from), wholeText(behindMs)];
      const rows = await (workflowId === undefined ? askAnew(sql.claimDue, values) : ask(sql.claimOne, values));
      if (rows.length > 0) claimed.push(...(await withSnapshots(connection, rows, { owner, leaseMs })));
      if (rows.length < most || workflowId !== undefined) break;
    }
  }
  return claimed;
}

async function withSnapshots(connection: Connection, rows: readonly TextRow[], lease: Lease): Promise<Claimed[]> {
  const snapshots = await loadSnapshots(
    connection,
    rows.map(({ seq }) => seq!),
  );
  return rows.flatMap(({ seq, id, incarnation, fence, crashes, now }) => {
    const snapshot = snapshots.get(seq!);
    const numbers = { fence: Number(fence), claimedAt: Number(now), crashes: Number(crashes) };
    const claim = { workflowId: idOf(id!), incarnation: idOf(incarnation!), ...lease, ...numbers };
    return snapshot ? [{ claim, snapshot }] : [];
  });
}

/** Prolongs a claim. */
export async function renewClaim(connection: Connection, claim: Claim): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { ask, sql } = connection;
  const [row] = await ask(sql.renew, [...holderOf(claim), wholeText(claim.leaseMs)]);
  if (row) return { version: Number(row.version), status: row.status as Status, storeNow: Number(row.now) };
  const { guard, now: storeNow } = await readGuard(connection, claim.workflowId, 0);
  const { version, status } = endedClaim(claim, guard);
  return { version, status, storeNow };
}

/** Gives a claim back. */
export async function releaseClaim(connection: Connection, claim: Claim, version: number): Promise<void> {
  const { ask, sql } = connection;
  const rows = await ask(sql.release, [...holderOf(claim), wholeText(version)]);
  if (rows.length === 0) keptClaim(claim, version, (await readGuard(connection, claim.workflowId, 0)).guard);
}

function holderOf({ workflowId, incarnation, fence }: Claim): string[] {
  return [plainText(workflowId), plainText(incarnation), wholeText(fence)];
}
