import { scannedRows, windowRows } from "../../kit/claims/due-keys.ts";
import { guardColumns, listedColumns, sortableTimeSql, wholeRowSql } from "../../kit/columns.ts";
import type { ListTable } from "../../kit/lists/list-table.ts";
import { type ListDialect, sqlLists } from "../../kit/lists/sql-lists.ts";
import type { MysqlValue } from "./mysql-session.ts";
import { clock, type Tables } from "./mysql-statement.ts";

/** The columns of a guard. */
export const guardSql: string = guardColumns.join(", ");

/** The columns of a row in a list. JSON is selected as binary, so that the charset of the session does not change it. */
export const listedSql: string = [
  guardSql,
  ...listedColumns.map((name) => `${name.endsWith("_at") ? sortableTimeSql(name) : `CAST(${name} AS BINARY)`} AS ${name}`),
].join(", ");

/** The condition for a due execution. Value: for how many milliseconds it must have been due. */
const dueCondition: string = `due_at <= ${clock} - CAST(? AS SIGNED)`;

/** The condition for an execution that may be claimed without its permit if it is due. Value: as for `dueCondition`. */
const isExempt: string = `exempt_at <= GREATEST(0, ${clock} - CAST(? AS SIGNED))`;

/**
 * Returns the statement that finds due executions, the longest due first. Values: the key of the permit, if there is one; for how many
 * milliseconds they must have been due; the limit.
 *
 * @param key the key of their permit; null: executions without a permit
 */
export function dueStatement({ executions }: Tables, key: string | null, columns: string): string {
  const ofKey = key === null ? "due_key IS NULL" : "due_key = ?";
  return `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE ${ofKey} AND ${dueCondition} AND ${wholeRowSql}
    ORDER BY due_at, seq LIMIT ?`;
}

/**
 * Returns the statement that finds due executions which may be claimed without a permit, the earliest `exempt_at` first. Values: twice, for
 * how many milliseconds they must have been due; the limit.
 */
export function exemptStatement({ executions }: Tables): string {
  return `SELECT ${guardSql} FROM ${executions} FORCE INDEX (exempt) WHERE ${isExempt} AND ${dueCondition} AND ${wholeRowSql} ORDER BY exempt_at, seq LIMIT ?`;
}

/** The condition for a due execution with a permit. Value: for how many milliseconds it must have been due. */
const isWaiting: string = dueCondition.replace("due_at", "waiting_at");

/**
 * Returns the statement that tells whether an execution without a permit is due, whether one with a permit is due, and whether one may be
 * due for a claim without its permit. Values: three times, for how many milliseconds they must have been due.
 */
export function dueKindsStatement({ executions }: Tables): string {
  return `(SELECT 'plain' AS kind FROM ${executions} FORCE INDEX (due) WHERE due_key IS NULL AND ${dueCondition} LIMIT 1)
    UNION ALL (SELECT 'key' FROM ${executions} FORCE INDEX (waiting) WHERE ${isWaiting} LIMIT 1)
    UNION ALL (SELECT 'exempt' FROM ${executions} FORCE INDEX (exempt) WHERE ${isExempt} LIMIT 1)`;
}

/**
 * Returns the statement that finds the permit keys of the longest due executions that have one, one row for each execution. Value: for how
 * many milliseconds they must have been due.
 */
export function keyedWindowStatement({ executions }: Tables): string {
  return `SELECT due_key, permit_limit FROM ${executions} FORCE INDEX (waiting) WHERE ${isWaiting} ORDER BY waiting_at, seq LIMIT ${windowRows}`;
}

/**
 * Returns the statement that reads the index by permit key; in each key, the longest due execution comes first. The limit is 0 if an
 * execution is not due. Values: for how many milliseconds it must have been due, the key after which to begin.
 */
export function keyScanStatement({ executions }: Tables): string {
  return `SELECT due_key, IF(${dueCondition}, permit_limit, 0) AS permit_limit FROM ${executions} FORCE INDEX (due)
    WHERE due_key > ? ORDER BY due_key, due_at, seq LIMIT ${scannedRows}`;
}

/** Returns the lists of executions in these tables. */
export function listsOf({ executions }: Tables, ask: ListDialect<MysqlValue>["ask"]): ListTable {
  const from = `${executions} AS executions`;
  return sqlLists<MysqlValue>({
    ...{ from, guard: guardSql, listed: listedSql, binder: markBinder, divide: "DIV", readable: wholeRowSql, ask },
    byTime: { ended: `${from} FORCE INDEX (ended)`, deleted: `${from} FORCE INDEX (deleted)`, run: `${from} FORCE INDEX (run)` },
    // a condition on `deleted_at` would make the servers consider its index
    leavesOutDeleted: true,
    labelled: (label, values) => `LOCATE(${markBinder(values)(label)}, CAST(labels AS BINARY)) > 0`,
    // the first condition is a range of one column, because the servers can read an index by it
    follows: (than, { createdAt, seq }, bind) =>
      `created_at ${than}= ${bind(createdAt)} AND (created_at ${than} ${bind(createdAt)} OR seq ${than} ${bind(seq)})`,
  });
}

/** Returns a function that adds a value to `values` and returns `?`, so that values never become part of a statement's text. */
function markBinder(values: MysqlValue[]): (value: MysqlValue) => string {
  return (value) => {
    values.push(value);
    return "?";
  };
}

/**
 * Returns the statement that reads executions with their children and the events after the last checkpoint, for `storedRowsOf`. One statement
 * sees one state of the data.
 *
 * @param ids the condition on ids; the statement needs its values three times
 */
export function loadStatement({ executions, events, children }: Tables, ids: string): string {
  const among = `FROM ${executions} AS e FORCE INDEX (ids)`;
  return `SELECT seq, version AS place, id AS name, status, CAST(head AS BINARY) AS body ${among} WHERE id ${ids} AND deleted_at IS NULL
    UNION ALL SELECT seq, v.version, NULL, NULL, CAST(v.event AS BINARY) ${among} STRAIGHT_JOIN ${events} AS v
      ON v.execution = seq AND v.version > COALESCE(checkpoint_version, -1) WHERE id ${ids}
    UNION ALL SELECT seq, c.place, c.name, NULL, CAST(c.head AS BINARY) ${among} STRAIGHT_JOIN ${children} AS c ON c.execution = seq WHERE id ${ids}`;
}
