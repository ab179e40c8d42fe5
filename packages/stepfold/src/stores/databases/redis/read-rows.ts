import type { StoredEvent } from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { eventsScript } from "./read-scripts.ts";
import { readEventRow, readRows, replyList, said } from "./redis-reply.ts";
import type { CallScript } from "./run-script.ts";

const damagedRows: Omit<StoredRows, "workflowId"> = { version: 0, status: "active", head: "", events: [], children: [] };

/** The rows that a script told, with the end of a long history. Null if the execution is not there, or not any more. */
export async function wholeRows(call: CallScript, workflowId: string, reply: readonly unknown[]): Promise<StoredRows | null> {
  if (reply.length === 0) return null;
  const rows = readRows(workflowId, reply);
  if (!rows) return { ...damagedRows, workflowId };
  const { version, incarnation, events } = rows;
  const missing = version + 1 - events.length;
  if (missing <= 0) return rows;
  const more = await eventsFrom(call, workflowId, events.length, missing, incarnation);
  if (more.incarnation !== incarnation) return null;
  // what has lost events is damaged
  return { ...rows, events: more.events.length < missing ? [] : [...events, ...more.events.map(({ text }) => text)] };
}

/** A part of a history, of one execution: it ends where another one of the same id is found, whose incarnation is given then. */
export async function eventsFrom(
  call: CallScript,
  id: string,
  from: number,
  limit: number,
  incarnation: string | null,
): Promise<{ readonly events: readonly StoredEvent[]; readonly incarnation: string | null }> {
  const events: StoredEvent[] = [];
  for (let expected = incarnation; events.length < limit; ) {
    const first = from + events.length;
    const [found, rows] = await call(eventsScript, [id], [String(first), String(limit - events.length)]);
    expected ??= said(found);
    if (said(found) !== expected) return { events, incarnation: said(found) };
    if (replyList(rows).length === 0) break;
    events.push(...replyList(rows).map((row, index) => ({ version: first + index, ...readEventRow(row) })));
  }
  return { events, incarnation };
}
