import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import type { DueSpan } from "../../record/due-time.ts";
import { amongValues, each } from "./batches.ts";
import { isDue, type Line, spanValues } from "./due.ts";
import { numberOf, type Row, type Session, type SqlValue, textOf } from "./mysql-session.ts";
import { clock, type Tables } from "./tables.ts";
import { take, takenColumns } from "./take.ts";

/** One that is due. */
interface Waiting {
  readonly seq: number;
  readonly key: string;
  readonly limit: number;
  readonly dueAt: number;
}

/**
 * Claims those whose turn it is, in a transaction of its own. While the rows of their keys are locked nobody else lets anyone
 * of them in; whoever commits, renews or releases does not touch these rows.
 */
export async function takeTurns(
  session: Session,
  tables: Tables,
  lines: readonly Line[],
  options: CheckedClaim,
  span: DueSpan,
): Promise<(Claimed | null)[]> {
  // all lock them in one order, so that they do not wait for one another in a circle
  const keys = lines.map(({ key }) => key).sort();
  await lockKeys(session, tables, keys);
  const held = await heldOf(session, tables, keys);
  const waiting = await waitingIn(session, tables, lines, options, span, held);
  const next = turnsAmong(waiting, held, options.limit);
  if (next.length === 0) return [];
  const seqs = amongValues(next);
  // one that somebody is at work on now is left; one that is asked for by name is waited for
  const locking = options.workflowId === undefined ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE";
  const locked = await session.rows(
    `SELECT ${takenColumns} FROM ${tables.executions} FORCE INDEX (PRIMARY)
    WHERE seq IN (${each(seqs.length, "?")}) AND ${isDue("due_at")} ORDER BY due_at, seq ${locking}`,
    [...seqs, ...spanValues(span)],
  );
  return take(session, tables, options, locked);
}

async function lockKeys(session: Session, { permits }: Tables, keys: readonly string[]): Promise<void> {
  const values = amongValues(keys);
  await session.run(
    `INSERT INTO ${permits} (permit_key) VALUES ${each(values.length, "(?)")} ON DUPLICATE KEY UPDATE permit_key = VALUES(permit_key)`,
    values,
  );
}

/** How many are held of each key. Those whose lease has ended are not, and no longer can be by renewing it. */
async function heldOf(session: Session, { executions }: Tables, keys: readonly string[]): Promise<Map<string, number>> {
  const values = amongValues(keys);
  const ask = (): Promise<readonly Row[]> =>
    session.rows(
      `SELECT permit_key, seq, turn_until <= ${clock} FROM ${executions} FORCE INDEX (held)
      WHERE permit_key IN (${each(values.length, "?")}) AND turn_until IS NOT NULL`,
      values,
    );
  let rows = await ask();
  const lost = new Set(rows.filter(([, , hasEnded]) => numberOf(hasEnded) === 1).map(([, seq]) => numberOf(seq)));
  if (lost.size > 0) {
    const seqs = amongValues([...lost]);
    const which = `seq IN (${each(seqs.length, "?")}) AND owner IS NOT NULL AND lease_until <= ${clock}`;
    await session.run(`UPDATE ${executions} FORCE INDEX (PRIMARY) SET fence = fence + 1 WHERE ${which}`, seqs);
    rows = await ask();
  }
  const held = new Map<string, number>();
  for (const [key, seq, hasEnded] of rows) {
    if (numberOf(hasEnded) !== 1 || !lost.has(numberOf(seq))) held.set(textOf(key), (held.get(textOf(key)) ?? 0) + 1);
  }
  return held;
}

/** The first in each line: as many as there are places, as it seems. With `workflowId`: that one. */
async function waitingIn(
  session: Session,
  { executions }: Tables,
  lines: readonly Line[],
  { workflowId, limit }: CheckedClaim,
  span: DueSpan,
  held: ReadonlyMap<string, number>,
): Promise<Waiting[]> {
  const columns = "seq, permit_key, permit_limit, due_at";
  const asked: SqlValue[][] = [];
  for (const { key, limit: places } of lines) {
    const free = Math.min(limit, places - (held.get(key) ?? 0));
    if (free > 0) asked.push([key, ...spanValues(span), workflowId ?? free]);
  }
  if (asked.length === 0) return [];
  const one =
    workflowId === undefined
      ? `SELECT ${columns} FROM ${executions} FORCE INDEX (due_by_key) WHERE permit_key = ? AND ${isDue("due_at")} ORDER BY due_at, seq LIMIT ?`
      : `SELECT ${columns} FROM ${executions} FORCE INDEX (ids) WHERE permit_key = ? AND ${isDue("due_at")} AND id = ?`;
  const indices = amongValues(asked.map((_, index) => index));
  const rows = await session.rows(
    each(indices.length, `(${one})`, " UNION ALL "),
    indices.flatMap((index) => asked[index]!),
  );
  // what fills up gives the same once more
  const waiting = new Map<number, Waiting>();
  for (const [seq, key, places, dueAt] of rows) {
    waiting.set(numberOf(seq), { seq: numberOf(seq), key: textOf(key), limit: numberOf(places), dueAt: numberOf(dueAt) });
  }
  return [...waiting.values()].sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
}

/** Those for which there is a place, longest due first. */
function turnsAmong(waiting: readonly Waiting[], held: ReadonlyMap<string, number>, most: number): number[] {
  const taken = new Map(held);
  const full = new Set<string>();
  const next: number[] = [];
  for (const { seq, key, limit } of waiting) {
    const count = taken.get(key) ?? 0;
    // whoever comes after one that has to wait has to wait, too
    if (count >= limit) full.add(key);
    if (full.has(key) || next.length >= most) continue;
    taken.set(key, count + 1);
    next.push(seq);
  }
  return next;
}
