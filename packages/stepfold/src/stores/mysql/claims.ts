import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../record/checked-store.ts";
import { type DueSpan, dueAtOf, dueSpans } from "../record/due-time.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import { amongValues, each } from "./batches.ts";
import { type HeadRow, headColumns, headRowOf, historiesOf } from "./load.ts";
import { lockedRows } from "./locked.ts";
import { refuseLongName } from "./long-names.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { changing, numberOf, reading, type Session, writing } from "./session.ts";
import { clock, type Tables } from "./tables.ts";

/** Most executions in one transaction: their histories are read in it. */
const mostTogether = 64;

/** Takes what is due. */
export async function claimDue(pool: MysqlPool, tables: Tables, options: CheckedClaim): Promise<Claimed[]> {
  const { owner, overdueMs } = options;
  refuseLongName("The owner of a claim", owner);
  const claimed: Claimed[] = [];
  for (const span of dueSpans(overdueMs)) {
    const limit = options.limit - claimed.length;
    if (limit > 0) claimed.push(...(await claimSpan(pool, tables, { ...options, limit }, span)));
  }
  return claimed;
}

async function claimSpan(pool: MysqlPool, tables: Tables, options: CheckedClaim, span: DueSpan): Promise<Claimed[]> {
  const { limit, workflowId } = options;
  // pollers that find nothing lock nothing
  const isAny = await reading(
    pool,
    async (session) => (await session.rows(dueOf(tables, workflowId, "1"), dueValues(workflowId, span, 1))).length > 0,
  );
  if (!isAny) return [];
  const claimed: Claimed[] = [];
  for (let left = limit; left > 0; ) {
    const most = Math.min(left, mostTogether);
    const taken = await writing(pool, (session) => take(session, tables, options, span, most));
    claimed.push(...taken.filter((one) => one !== null));
    if (taken.length < most || workflowId !== undefined) break;
    left -= taken.filter((one) => one !== null).length;
  }
  return claimed;
}

/** The statement that finds what is due, longest due first. */
export function dueOf({ executions }: Tables, workflowId: string | undefined, columns: string): string {
  const isDue = `due_at >= CAST(? AS SIGNED) AND due_at <= ${clock} - CAST(? AS SIGNED)`;
  return workflowId === undefined
    ? `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE ${isDue} ORDER BY due_at, seq LIMIT ?`
    : `SELECT ${columns} FROM ${executions} FORCE INDEX (ids) WHERE ${isDue} AND id = ? LIMIT 1`;
}

function dueValues(workflowId: string | undefined, { from, behindMs }: DueSpan, limit: number): (string | number)[] {
  return [from, behindMs, workflowId ?? limit];
}

/** Null stands for one whose rows are damaged: it stays claimed until the lease ends, so that it is not tried again and again. */
async function take(
  session: Session,
  tables: Tables,
  { owner, leaseMs, workflowId }: CheckedClaim,
  span: DueSpan,
  limit: number,
): Promise<(Claimed | null)[]> {
  // who is at work on one of them now has it, or is about to change when it is due; one that is asked for by name is waited for
  const locking = workflowId === undefined ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE";
  const due = await session.rows(
    `${dueOf(tables, workflowId, `${headColumns}, fence, ${clock}, crashes + (owner IS NOT NULL)`)} ${locking}`,
    dueValues(workflowId, span, limit),
  );
  if (due.length === 0) return [];
  const now = numberOf(due[0]![7]);
  const heads = due.map((row) => ({ ...headRowOf(row), fence: numberOf(row[6]) + 1, crashes: numberOf(row[8]) }));
  const seqs = heads.map(({ seq }) => seq);
  const values = amongValues(seqs);
  await session.run(
    // in this order: what is set is what is read further on
    `UPDATE ${tables.executions} SET crashes = crashes + (owner IS NOT NULL), owner = ?, fence = fence + 1, lease_until = ?, due_at = ?
    WHERE seq IN (${each(values.length, "?")})`,
    [owner, now + leaseMs, now + leaseMs, ...values],
  );
  const snapshotOf = await historiesOf(session, tables, seqs);
  return heads.map((head) => {
    const { id, incarnation, fence, crashes } = head;
    const claim = { workflowId: id, incarnation, owner, leaseMs, fence, claimedAt: now, crashes };
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
    await session.run(`UPDATE ${tables.executions} SET owner = NULL, lease_until = NULL, due_at = ? WHERE seq = ?`, [
      dueAtOf(stored.wakeAt, stored.now),
      stored.seq,
    ]);
  });
}
