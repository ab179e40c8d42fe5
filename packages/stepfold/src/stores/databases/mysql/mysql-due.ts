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

/** Keys that one statement looks at. */
const keysTogether = 64;

/**
 * The statement that finds keys after one, and of each the execution that is due first. It goes from one key to the next by the
 * index, so that it costs the same however many wait for a key. Values: the key; for how long.
 */
export function keysStatement({ executions }: Tables): string {
  const next = (key: string): string =>
    `SELECT n.seq FROM ${executions} AS n FORCE INDEX (due) WHERE n.due_key > ${key} ORDER BY n.due_key, n.due_at, n.seq LIMIT 1`;
  return `WITH RECURSIVE firsts (seq, place) AS (
      SELECT (${next("?")}), 1
      UNION ALL SELECT (${next("e.due_key")}), place + 1 FROM firsts JOIN ${executions} AS e ON e.seq = firsts.seq WHERE place < ${keysTogether}
    )
    SELECT due_key, permit_limit, ${isDue} FROM firsts STRAIGHT_JOIN ${executions} AS e ON e.seq = firsts.seq ORDER BY place`;
}

/** Keys after one for which something is due. */
export async function dueKeysAfter(session: Session, tables: Tables, after: string, limit: number, overdueMs: number): Promise<DueKey[]> {
  const found: DueKey[] = [];
  for (let last = after; ; ) {
    const rows = await session.rows(keysStatement(tables), [last, overdueMs]);
    const due = rows.filter((row) => numberOf(row[2]) === 1);
    found.push(...due.map(([key, most]): DueKey => ({ key: textOf(key), limit: numberOf(most) })));
    if (found.length >= limit || rows.length < keysTogether) return found.slice(0, limit);
    last = textOf(rows.at(-1)![0]);
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
