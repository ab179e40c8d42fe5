import type { DueKey, ExecutionGuard, ExecutionTable } from "../../kit/execution-table.ts";
import { guardColumns, guardOf } from "./mysql-rows.ts";
import { numberOf, type Session, textOf } from "./mysql-session.ts";
import { among, clock, type Tables } from "./mysql-statement.ts";

/** The condition for what is due. Values: for how long. */
export const isDue = `due_at <= ${clock} - CAST(? AS SIGNED)`;

/** The statement that finds what is due, longest first. Values: the key, unless there is none; for how long; how many. */
export function dueStatement({ executions }: Tables, key: string | null, columns: string): string {
  const ofKey = key === null ? "due_key IS NULL" : "due_key = ?";
  return `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE ${ofKey} AND ${isDue} ORDER BY due_at, seq LIMIT ?`;
}

/** Rows that one statement looks at for their keys. */
const rowsTogether = 128;

/**
 * The statement that finds executions with a key after one, in the order of keys, and in each key the longest due first. Values: for
 * how long; the key.
 */
export function keysStatement({ executions }: Tables): string {
  return `SELECT due_key, permit_limit, ${isDue} FROM ${executions} FORCE INDEX (due)
    WHERE due_key > ? ORDER BY due_key, due_at, seq LIMIT ${rowsTogether}`;
}

/** Keys after one for which something is due. Goes on behind the last key that it saw, however many more wait for that one. */
export async function dueKeysAfter(session: Session, tables: Tables, after: string, limit: number, overdueMs: number): Promise<DueKey[]> {
  const found: DueKey[] = [];
  for (let last = after; ; ) {
    const rows = await session.rows(keysStatement(tables), [overdueMs, last]);
    for (const [keyValue, most, due] of rows) {
      const key = textOf(keyValue);
      if (key !== last && numberOf(due) === 1) found.push({ key, limit: numberOf(most) });
      last = key;
    }
    if (found.length >= limit || rows.length < rowsTogether) return found.slice(0, limit);
  }
}

type ClaimDue = NonNullable<ExecutionTable["claimDue"]>;

/** Claims what is due without a permit. What others are writing is about to change, and is passed over. */
export async function claimDueRows(
  session: Session,
  tables: Tables,
  { owner, leaseMs, limit, overdueMs }: Parameters<ClaimDue>[0],
): ReturnType<ClaimDue> {
  const found = `${dueStatement(tables, null, `${guardColumns}, ${clock}`)} FOR UPDATE SKIP LOCKED`;
  const rows = await session.rows(found, [overdueMs, limit]);
  if (rows.length === 0) return { now: 0, claimed: [] };
  const now = numberOf(rows[0]!.at(-1));
  const dueAt = now + leaseMs;
  const seqs = among(rows.map(([seq]) => numberOf(seq)));
  await session.run(
    // in this order: what is set is what is read further on
    `UPDATE ${tables.executions} SET crashes = crashes + (owner IS NOT NULL), owner = ?, fence = fence + 1, due_at = ? WHERE seq ${seqs.text}`,
    [owner, dueAt, ...seqs.values],
  );
  const claimed = rows.map(guardOf).map((guard): ExecutionGuard => {
    return { ...guard, owner, dueAt, fence: guard.fence + 1, crashes: guard.crashes + (guard.owner === null ? 0 : 1) };
  });
  return { now, claimed };
}
