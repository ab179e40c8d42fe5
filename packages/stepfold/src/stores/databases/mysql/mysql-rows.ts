import type { Status } from "../../../core/snapshot/snapshot.ts";
import { scannedRows, windowRows } from "../../kit/claims/due-keys.ts";
import { type ColumnRow, endedTerms, guardColumns, guardOf, listedColumns, listedRowOf, type Term, termsSql } from "../../kit/columns.ts";
import type { EndedQuery, ExecutionGuard, ListedRow } from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { columnText, type MysqlValue, numberOf, type Row, textOrNull } from "./mysql-session.ts";
import { clock, type Tables } from "./mysql-statement.ts";

/** The columns of a guard, to be read by `guardIn`. */
export const guardSql: string = guardColumns.join(", ");

/** The guard in a row whose first columns are those of `guardSql`. */
export function guardIn(row: Row): ExecutionGuard {
  return guardOf(named(guardColumns, row));
}

/** The columns of a list, to be read by `listedRowIn`. */
export const listedSql: string = [guardSql, ...listedColumns.map((name) => (name.endsWith("_at") ? name : `CAST(${name} AS BINARY)`))].join(
  ", ",
);

/** What a list shows of an execution. */
export function listedRowIn(row: Row): ListedRow {
  return listedRowOf(named([...guardColumns, ...listedColumns], row));
}

function named(columns: readonly string[], row: Row): ColumnRow {
  return Object.fromEntries(columns.map((name, index) => [name, row[index] instanceof Uint8Array ? columnText(row[index]) : row[index]]));
}

/** The condition for what is due. Values: for how long. */
export const dueCondition: string = `due_at <= ${clock} - CAST(? AS SIGNED)`;

/** The statement that finds what is due, longest first. Values: the key, unless there is none; for how long; how many. */
export function dueStatement({ executions }: Tables, key: string | null, columns: string): string {
  const ofKey = key === null ? "due_key IS NULL" : "due_key = ?";
  return `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE ${ofKey} AND ${dueCondition} ORDER BY due_at, seq LIMIT ?`;
}

/** The condition for what is due and has a key. Values: for how long. */
export const isWaiting: string = dueCondition.replace("due_at", "waiting_at");

/** The statement that finds the keys of what is due longest. Values: for how long. */
export function keyedWindowStatement({ executions }: Tables): string {
  return `SELECT due_key, permit_limit FROM ${executions} FORCE INDEX (waiting) WHERE ${isWaiting} ORDER BY waiting_at, seq LIMIT ${windowRows}`;
}

/** The statement that reads the index by key, in each key the longest due first; the limit is 0 where that is not due. Values: for how long, a key. */
export function keyScanStatement({ executions }: Tables): string {
  return `SELECT due_key, IF(${dueCondition}, permit_limit, 0) FROM ${executions} FORCE INDEX (due)
    WHERE due_key > ? ORDER BY due_key, due_at, seq LIMIT ${scannedRows}`;
}

/** Conditions as SQL. Text comes only from here; what the caller gave is bound. */
export function conditionsOf(terms: readonly Term[]): {
  readonly text: string;
  readonly values: readonly MysqlValue[];
  bind(value: MysqlValue): string;
} {
  const values: MysqlValue[] = [];
  const bind = (value: MysqlValue): string => {
    values.push(value);
    return "?";
  };
  return { text: termsSql(terms, bind), values, bind };
}

/** The statement that finds what may be deleted, longest ago first. */
export function endedStatement(
  { executions }: Tables,
  query: EndedQuery,
): { readonly text: string; readonly values: readonly MysqlValue[] } {
  const { text, values } = conditionsOf(endedTerms(query));
  const name = query.ended ? "ended" : "deleted";
  const statement = `SELECT ${guardSql} FROM ${executions} FORCE INDEX (${name}) WHERE ${text} ORDER BY ${name}_at, seq LIMIT ?`;
  return { text: statement, values: [...values, query.limit] };
}

/**
 * The statement that reads executions with all that belongs to them, and `storedRows` reads. One statement sees one state of the data.
 *
 * @param ids the condition for ids; its values are needed three times
 */
export function loadStatement({ executions, events, children }: Tables, ids: string): string {
  const among = `FROM ${executions} AS e FORCE INDEX (ids)`;
  return `SELECT seq, version AS place, id AS name, status, CAST(head AS BINARY) AS body ${among} WHERE id ${ids} AND deleted_at IS NULL
    UNION ALL SELECT seq, v.version, NULL, NULL, CAST(v.event AS BINARY) ${among} STRAIGHT_JOIN ${events} AS v ON v.execution = seq WHERE id ${ids}
    UNION ALL SELECT seq, c.place, c.name, NULL, CAST(c.head AS BINARY) ${among} STRAIGHT_JOIN ${children} AS c ON c.execution = seq WHERE id ${ids}`;
}

/** An event, a child, or the head of an execution. */
interface Part {
  readonly place: number;
  readonly name: string;
  readonly text: string;
}

/** The executions in the rows of a `loadStatement`, by their ids. */
export function storedRows(rows: readonly Row[]): ReadonlyMap<string, StoredRows> {
  const parts = new Map<number, { readonly events: Part[]; readonly children: Part[] }>();
  for (const [seq] of rows) parts.set(numberOf(seq), { events: [], children: [] });
  const heads: (Part & { readonly seq: number; readonly status: Status })[] = [];
  for (const [seqValue, place, name, status, text] of rows) {
    const seq = numberOf(seqValue);
    const part = { place: numberOf(place), name: textOrNull(name) ?? "", text: columnText(text) };
    if (status !== null) heads.push({ ...part, seq, status: columnText(status) as Status });
    else if (name === null) parts.get(seq)!.events.push(part);
    else parts.get(seq)!.children.push(part);
  }
  // a union has no order
  const inOrder = (some: Part[]): Part[] => some.sort((a, b) => a.place - b.place);
  return new Map(
    heads.map(({ seq, place: version, name: workflowId, status, text: head }) => {
      const { events, children } = parts.get(seq)!;
      const texts = inOrder(events).map(({ text }) => text);
      const childHeads = inOrder(children).map(({ name, text }) => [name, text] as const);
      return [workflowId, { workflowId, version, status, head, events: texts, children: childHeads }];
    }),
  );
}
