import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claim, Claimed, Lease } from "../../../ports/snapshot-store.ts";
import { amongValues, each } from "./batches.ts";
import { type HeadRow, headColumns, headRowOf, historiesOf } from "./load.ts";
import { numberOf, type Row, type Session } from "./mysql-session.ts";
import { clock, type Tables } from "./tables.ts";

/** Columns of the rows that are taken. */
export const takenColumns: string = `${headColumns}, fence, ${clock}, crashes + (owner IS NOT NULL)`;

/**
 * Claims rows that are locked. Null stands for one that is damaged: it stays claimed until the lease ends, so that it is not
 * tried again and again.
 */
export async function take(
  session: Session,
  tables: Tables,
  { owner, leaseMs }: Lease,
  locked: readonly Row[],
): Promise<(Claimed | null)[]> {
  if (locked.length === 0) return [];
  const now = numberOf(locked[0]![7]);
  const heads = locked.map((row) => ({ ...headRowOf(row), fence: numberOf(row[6]) + 1, crashes: numberOf(row[8]) }));
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
