import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import { amongValues, each } from "./batches.ts";
import { type HeadRow, headColumns, headRowOf, historiesOf } from "./load.ts";
import { lockedRows } from "./locked.ts";
import { refuseLongName } from "./long-names.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { changing, numberOf, reading, type Session, writing } from "./session.ts";
import { clock, type Tables } from "./tables.ts";

type ClaimOptions = Lease & { readonly limit: number; readonly workflowId?: string };

/** Most executions in one transaction: their histories are read in it. */
const mostTogether = 64;

/** Takes what is due. */
export async function claimDue(pool: MysqlPool, tables: Tables, options: ClaimOptions): Promise<Claimed[]> {
  const { limit, owner, workflowId } = options;
  refuseLongName("The owner of a claim", owner);
  // pollers that find nothing lock nothing
  const isAny = await reading(
    pool,
    async (session) => (await session.rows(dueOf(tables, workflowId, "1"), dueValues(workflowId, 1))).length > 0,
  );
  if (!isAny) return [];
  const claimed: Claimed[] = [];
  for (let left = limit; left > 0; ) {
    const most = Math.min(left, mostTogether);
    const taken = await writing(pool, (session) => take(session, tables, options, most));
    claimed.push(...taken.filter((one) => one !== null));
    if (taken.length < most || workflowId !== undefined) break;
    left -= taken.filter((one) => one !== null).length;
  }
  return claimed;
}

/** The statement that finds what is due, longest due first. */
export function dueOf({ executions }: Tables, workflowId: string | undefined, columns: string): string {
  return workflowId === undefined
    ? `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE due_at <= ${clock} ORDER BY due_at, seq LIMIT ?`
    : `SELECT ${columns} FROM ${executions} FORCE INDEX (ids) WHERE id = ? AND due_at <= ${clock} LIMIT ?`;
}

function dueValues(workflowId: string | undefined, limit: number): (string | number)[] {
  return workflowId === undefined ? [limit] : [workflowId, limit];
}

/** Null stands for one whose rows are damaged: it stays claimed until the lease ends, so that it is not tried again and again. */
async function take(
  session: Session,
  tables: Tables,
  { owner, leaseMs, workflowId }: ClaimOptions,
  limit: number,
): Promise<(Claimed | null)[]> {
  // who is at work on one of them now has it, or is about to change when it is due; one that is asked for by name is waited for
  const locking = workflowId === undefined ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE";
  const due = await session.rows(
    `${dueOf(tables, workflowId, `${headColumns}, fence, ${clock}`)} ${locking}`,
    dueValues(workflowId, limit),
  );
  if (due.length === 0) return [];
  const now = numberOf(due[0]![7]);
  const heads = due.map((row) => ({ ...headRowOf(row), fence: numberOf(row[6]) + 1 }));
  const seqs = heads.map(({ seq }) => seq);
  const values = amongValues(seqs);
  await session.run(
    `UPDATE ${tables.executions} SET owner = ?, fence = fence + 1, lease_until = ?, due_at = ? WHERE seq IN (${each(values.length, "?")})`,
    [owner, now + leaseMs, now + leaseMs, ...values],
  );
  const snapshotOf = await historiesOf(session, tables, seqs);
  return heads.map((head) => {
    const claim = { workflowId: head.id, incarnation: head.incarnation, owner, leaseMs, fence: head.fence, claimedAt: now };
    return claimedOrNull(claim, head, snapshotOf);
  });
}

function claimedOrNull(claim: Claim, head: HeadRow, snapshotOf: Awaited<ReturnType<typeof historiesOf>>): Claimed | null {
  try {
    return { claim, snapshot: snapshotOf(head) };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}

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
    await session.run(`UPDATE ${tables.executions} SET owner = NULL, lease_until = NULL, due_at = wake_at WHERE seq = ?`, [stored.seq]);
  });
}
