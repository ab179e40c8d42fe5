import type { Status } from "../../../core/snapshot/snapshot.ts";
import { scannedRows, windowRows } from "../../kit/claims/due-keys.ts";
import { type ColumnRow, guardColumns, listedColumns } from "../../kit/columns.ts";
import type { ListTable } from "../../kit/execution-table.ts";
import { type ListDialect, sqlLists } from "../../kit/lists/sql-lists.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import type { MysqlValue } from "./mysql-session.ts";
import { clock, type Tables } from "./mysql-statement.ts";

/** The columns of a guard. */
export const guardSql: string = guardColumns.join(", ");

/** The columns of a list. */
export const listedSql: string = [
  guardSql,
  ...listedColumns.map((name) => (name.endsWith("_at") ? name : `CAST(${name} AS BINARY) AS ${name}`)),
].join(", ");

/** The condition for what is due. Values: for how long. */
const dueCondition: string = `due_at <= ${clock} - CAST(? AS SIGNED)`;

/** The statement that finds what is due, longest first. Values: the key, unless there is none; for how long; how many. */
export function dueStatement({ executions }: Tables, key: string | null, columns: string): string {
  const ofKey = key === null ? "due_key IS NULL" : "due_key = ?";
  return `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE ${ofKey} AND ${dueCondition} ORDER BY due_at, seq LIMIT ?`;
}

/** The condition for what is due and has a key. Values: for how long. */
const isWaiting: string = dueCondition.replace("due_at", "waiting_at");

/** The statement that tells whether something without a permit is due, and something with one. Values: for how long, twice. */
export function dueKindsStatement({ executions }: Tables): string {
  return `(SELECT 'plain' AS kind FROM ${executions} FORCE INDEX (due) WHERE due_key IS NULL AND ${dueCondition} LIMIT 1)
    UNION ALL (SELECT 'key' FROM ${executions} FORCE INDEX (waiting) WHERE ${isWaiting} LIMIT 1)`;
}

/** The statement that finds the keys of what is due longest. Values: for how long. */
export function keyedWindowStatement({ executions }: Tables): string {
  return `SELECT due_key, permit_limit FROM ${executions} FORCE INDEX (waiting) WHERE ${isWaiting} ORDER BY waiting_at, seq LIMIT ${windowRows}`;
}

/** The statement that reads the index by key, in each key the longest due first; the limit is 0 where that is not due. Values: for how long, a key. */
export function keyScanStatement({ executions }: Tables): string {
  return `SELECT due_key, IF(${dueCondition}, permit_limit, 0) AS permit_limit FROM ${executions} FORCE INDEX (due)
    WHERE due_key > ? ORDER BY due_key, due_at, seq LIMIT ${scannedRows}`;
}

/** Lists of the tables. */
export function listsOf({ executions }: Tables, ask: ListDialect<MysqlValue>["ask"]): ListTable {
  const from = `${executions} AS executions`;
  return sqlLists<MysqlValue>({
    ...{ from, guard: guardSql, listed: listedSql, binder: markBinder, divide: "DIV", ask },
    byTime: { ended: `${from} FORCE INDEX (ended)`, deleted: `${from} FORCE INDEX (deleted)` },
    // to ask for `deleted_at` too would make the servers look at its index
    leavesOutDeleted: true,
    labelled: (label, values) => `LOCATE(${markBinder(values)(label)}, CAST(labels AS BINARY)) > 0`,
    // a range of one column, which the servers read an index by
    follows: (than, { createdAt, seq }, bind) =>
      `created_at ${than}= ${bind(createdAt)} AND (created_at ${than} ${bind(createdAt)} OR seq ${than} ${bind(seq)})`,
  });
}

/** Gives the parameters of a statement, whose values it adds to those. Text of a statement comes only from here; what the caller gave is bound. */
function markBinder(values: MysqlValue[]): (value: MysqlValue) => string {
  return (value) => {
    values.push(value);
    return "?";
  };
}

/**
 * The statement that reads executions with all that belongs to them, and `storedRows` reads. One statement sees one state of the data.
 *
 * @param ids the condition for ids; its values are needed three times
 */
export function loadStatement({ executions, events, children }: Tables, ids: string): string {
  const among = `FROM ${executions} AS e FORCE INDEX (ids)`;
  return `SELECT seq, version AS place, id AS name, status, CAST(head AS BINARY) AS body ${among} WHERE id ${ids} AND deleted_at IS NULL
    UNION ALL SELECT seq, v.version, NULL, NULL, CAST(v.event AS BINARY) ${among} STRAIGHT_JOIN ${events} AS v
      ON v.execution = seq AND v.version > COALESCE(checkpoint_version, -1) WHERE id ${ids}
    UNION ALL SELECT seq, c.place, c.name, NULL, CAST(c.head AS BINARY) ${among} STRAIGHT_JOIN ${children} AS c ON c.execution = seq WHERE id ${ids}`;
}

/** The executions in the rows of a `loadStatement`, by their ids. */
export function storedRows(rows: readonly ColumnRow[]): ReadonlyMap<string, StoredRows> {
  const found = new Map<unknown, StoredRows & { readonly events: string[]; readonly children: [string, string][] }>();
  for (const { seq, place, name, status, body } of rows) {
    if (status === null) continue;
    const head = { workflowId: name as string, version: Number(place), status: status as Status, head: body as string };
    found.set(seq, { ...head, events: [], children: [] });
  }
  // a union has no order
  for (const { seq, name, status, body } of [...rows].sort((a, b) => Number(a.place) - Number(b.place))) {
    if (status !== null) continue;
    if (name === null) found.get(seq)?.events.push(body as string);
    else found.get(seq)?.children.push([name as string, body as string]);
  }
  return new Map([...found.values()].map((stored) => [stored.workflowId, stored]));
}
