import type { CheckedClaim } from "../../kit/checked-store.ts";
import type { DueSpan } from "../../record/due-time.ts";
import { numberOf, type Row, type Session, type SqlValue, textOf } from "./mysql-session.ts";
import { clock, type Tables } from "./tables.ts";

/** Most of those that wait for their turn that are looked at in one go. */
const mostWaiting = 64;

/** Executions that take turns; the first of them is due, and not all places are taken. */
export interface Line {
  readonly key: string;
  /** Of the first. */
  readonly limit: number;
  readonly dueAt: number;
}

/** What a look finds. */
export interface Look {
  /** Since when one is due that takes turns with nobody; null: none is. */
  readonly plainAt: number | null;
  readonly lines: readonly Line[];
  /** There are perhaps more lines. */
  readonly isCut: boolean;
}

/** Values of a span as a condition takes them. */
export function spanValues({ from, behindMs }: DueSpan): [number, number] {
  return [from, behindMs];
}

/** What is due. Values: a span. */
export function isDue(column: string): string {
  return `${column} >= CAST(? AS SIGNED) AND ${column} <= ${clock} - CAST(? AS SIGNED)`;
}

/** The statement that finds what is due and takes turns with nobody, longest due first. Values: a span, then id or limit. */
export function dueOf({ executions }: Tables, workflowId: string | undefined, columns: string): string {
  return workflowId === undefined
    ? `SELECT ${columns} FROM ${executions} FORCE INDEX (due_by_key) WHERE permit_key IS NULL AND ${isDue("due_at")} ORDER BY due_at, seq LIMIT ?`
    : `SELECT ${columns} FROM ${executions} FORCE INDEX (ids) WHERE ${isDue("due_at")} AND id = ? AND permit_key IS NULL LIMIT 1`;
}

/** Columns of a row of what is found. */
function foundColumns({ executions }: Tables): string {
  const held = `SELECT COUNT(*) FROM ${executions} AS h FORCE INDEX (held) WHERE h.permit_key = w.permit_key AND h.turn_until > ${clock}`;
  return `permit_key, permit_limit, due_at, (${held}) < permit_limit`;
}

/** The statement of a look at everything that is due. Values: two spans. */
export function lookOf(tables: Tables): string {
  const { executions } = tables;
  return `(SELECT NULL, NULL, due_at, 1 FROM ${executions} FORCE INDEX (due_by_key)
      WHERE permit_key IS NULL AND ${isDue("due_at")} ORDER BY due_at, seq LIMIT 1)
    UNION ALL (SELECT ${foundColumns(tables)} FROM ${executions} AS w FORCE INDEX (waiting)
      WHERE ${isDue("turn_at")} ORDER BY turn_at, seq LIMIT ${mostWaiting})`;
}

/** The statement that finds what waits by its key. Values: after this key, up to this one, a span. */
export function waitingOf(tables: Tables): string {
  return `SELECT ${foundColumns(tables)} FROM ${tables.executions} AS w FORCE INDEX (due_by_key)
    WHERE permit_key > ? AND (? IS NULL OR permit_key <= ?) AND ${isDue("due_at")} ORDER BY permit_key, due_at, seq LIMIT ${mostWaiting}`;
}

/** Looks for what is due. As long as nobody takes turns that is one statement. */
export async function look(session: Session, tables: Tables, { workflowId, permit }: CheckedClaim, span: DueSpan): Promise<Look> {
  const [from, behindMs] = spanValues(span);
  if (workflowId === undefined && permit === undefined) return found(await session.rows(lookOf(tables), [from, behindMs, from, behindMs]));
  const [index, which] = workflowId === undefined ? ["due_by_key", "permit_key = ?"] : ["ids", "id = ?"];
  const text = `SELECT ${foundColumns(tables)} FROM ${tables.executions} AS w FORCE INDEX (${index}) WHERE ${isDue("due_at")} AND ${which}
    ORDER BY due_at, seq LIMIT 1`;
  return found(await session.rows(text, [from, behindMs, (workflowId ?? permit)!]));
}

/** Goes on from key to key until there is a place in a line, or the last one was asked. Gives the key that it stopped at, or null. */
export async function lookFurther(
  session: Session,
  tables: Tables,
  [after, upTo]: readonly [string, string | null],
  span: DueSpan,
): Promise<{ readonly lines: readonly Line[]; readonly at: string | null }> {
  for (let at = after; ; ) {
    const values: SqlValue[] = [at, upTo, upTo, ...spanValues(span)];
    const rows = await session.rows(waitingOf(tables), values);
    if (rows.length === 0) return { lines: [], at: null };
    at = textOf(rows.at(-1)![0]);
    const { lines } = found(rows);
    if (lines.length > 0) return { lines, at };
  }
}

function found(rows: readonly Row[]): Look {
  const first = new Map<string, Line & { readonly isOpen: boolean }>();
  let plainAt: number | null = null;
  let waiting = 0;
  for (const [key, limit, dueAt, isOpen] of rows) {
    if (key === null) {
      plainAt = numberOf(dueAt);
      continue;
    }
    waiting++;
    const line = { key: textOf(key), limit: numberOf(limit), dueAt: numberOf(dueAt), isOpen: numberOf(isOpen) === 1 };
    // whoever comes after one that has to wait has to wait, too
    if (!first.has(line.key)) first.set(line.key, line);
  }
  return { plainAt, lines: [...first.values()].filter(({ isOpen }) => isOpen), isCut: waiting === mostWaiting };
}
