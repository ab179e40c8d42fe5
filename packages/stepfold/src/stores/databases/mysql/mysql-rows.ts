import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EndedQuery, ExecutionGuard } from "../../kit/execution-table.ts";
import type { ListedRow } from "../../kit/list.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { numberOf, numberOrNull, type Row, textOf, textOrNull } from "./mysql-session.ts";
import { clock, type Tables } from "./mysql-statement.ts";

/** The columns that `guardOf` reads, in its order. */
export const guardColumns =
  "seq, id, incarnation, version, status, wake_at, due_at, owner, fence, crashes, permit_key, permit_limit, deleted_at";

/** The guard in a row whose first columns are `guardColumns`. */
export function guardOf(row: Row): ExecutionGuard {
  const [seq, id, incarnation, version, status, wakeAt, dueAt, owner, fence, crashes, permitKey, permitLimit, deletedAt] = row;
  return {
    seq: numberOf(seq),
    id: textOf(id),
    incarnation: textOf(incarnation),
    version: numberOf(version),
    status: textOf(status) as Status,
    wakeAt: numberOrNull(wakeAt),
    dueAt: numberOrNull(dueAt),
    owner: textOrNull(owner),
    fence: numberOf(fence),
    crashes: numberOf(crashes),
    permit: permitKey === null ? null : { key: textOf(permitKey), limit: numberOf(permitLimit) },
    deletedAt: numberOrNull(deletedAt),
  };
}

/** The condition for what is due. Values: for how long. */
export const isDue: string = `due_at <= ${clock} - CAST(? AS SIGNED)`;

/** The statement that finds what is due, longest first. Values: the key, unless there is none; for how long; how many. */
export function dueStatement({ executions }: Tables, key: string | null, columns: string): string {
  const ofKey = key === null ? "due_key IS NULL" : "due_key = ?";
  return `SELECT ${columns} FROM ${executions} FORCE INDEX (due) WHERE ${ofKey} AND ${isDue} ORDER BY due_at, seq LIMIT ?`;
}

/** Rows that one statement looks at for their keys. */
export const keyRowsTogether: number = 512;

/** Rows that are looked at before: as long as fewer are due, they are all. */
export const waitingTogether: number = 128;

/** The condition for what is due and has a key. Values: for how long. */
export const isWaiting: string = isDue.replace("due_at", "waiting_at");

/** The statement that finds what is due longest and has a key, in the order of keys, and in each key the longest due first. Values: for how long. */
export function waitingStatement({ executions }: Tables): string {
  const first = `SELECT due_key, permit_limit, due_at, seq FROM ${executions} FORCE INDEX (waiting)
    WHERE ${isWaiting} ORDER BY waiting_at, seq LIMIT ${waitingTogether}`;
  return `SELECT due_key, permit_limit, 1 FROM (${first}) AS waiting ORDER BY due_key, due_at, seq`;
}

/**
 * The statement that finds executions with a key after one, in the order of keys, and in each key the longest due first. Values: for
 * how long; the key.
 */
export function keysStatement({ executions }: Tables): string {
  return `SELECT due_key, permit_limit, ${isDue} FROM ${executions} FORCE INDEX (due)
    WHERE due_key > ? ORDER BY due_key, due_at, seq LIMIT ${keyRowsTogether}`;
}

/** The statement that finds what may be deleted, longest ago first. Values: before; statuses, and a workflow if there is one; how many. */
export function endedStatement({ executions }: Tables, ended: EndedQuery["ended"]): string {
  const [column, index] = ended ? ["ended_at", "ended"] : ["deleted_at", "deleted"];
  const ofStatus = ended ? ` AND status IN (${ended.statuses.map(() => "?").join(", ")})` : "";
  const ofWorkflow = ended && ended.definitionId !== null ? " AND definition_id = ?" : "";
  return `SELECT ${guardColumns} FROM ${executions} FORCE INDEX (${index}) WHERE ${column} < ?${ofStatus}${ofWorkflow} ORDER BY ${column}, seq LIMIT ?`;
}

/** The columns that `listedRow` reads, in its order. */
export const listedColumns = `seq, id, CAST(definition AS BINARY), CAST(metadata AS BINARY), version, status, CAST(head AS BINARY),
  created_at, updated_at, wake_at, due_at, owner, crashes`;

/** What a list shows of an execution. */
export function listedRow(row: Row): ListedRow {
  const [seq, id, definition, metadata, version, status, head, createdAt, updatedAt, wakeAt, dueAt, owner, crashes] = row;
  return {
    seq: numberOf(seq),
    id: textOf(id),
    definition: textOf(definition),
    metadata: textOf(metadata),
    version: numberOf(version),
    status: textOf(status) as Status,
    head: textOf(head),
    createdAt: numberOf(createdAt),
    updatedAt: numberOf(updatedAt),
    wakeAt: numberOrNull(wakeAt),
    owner: textOrNull(owner),
    leaseUntil: owner === null ? null : numberOrNull(dueAt),
    crashes: numberOf(crashes),
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
    const part = { place: numberOf(place), name: textOrNull(name) ?? "", text: textOf(text) };
    if (status !== null) heads.push({ ...part, seq, status: textOf(status) as Status });
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
