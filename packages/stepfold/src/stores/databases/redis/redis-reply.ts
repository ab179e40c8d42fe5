import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { listedRowOf } from "../../kit/columns.ts";
import type { StoredEvent } from "../../kit/execution-rows.ts";
import type { LaterRun, ListedRow } from "../../kit/lists/list-table.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import { eventsScript, loadScript } from "./read-scripts.ts";
import type { CallScript } from "./redis-client.ts";

/**
 * Returns a text in the reply of a script; null if there is none.
 *
 * Scripts put `=` before every text, because some clients parse a text that looks like JSON.
 */
export function textIn(value: unknown): string | null {
  const text = String(value ?? "");
  return text === "" ? null : text.slice(1);
}

/** Returns a list in a reply; an empty list if there is none. */
export function replyList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The columns of the numbers that `guardOf` of the scripts tells, in its order. */
const numberColumns = [
  ...["seq", "version", "fence", "crashes", "wake_at", "due_at", "created_at", "updated_at", "deleted_at"],
  ...["size_bytes", "run_since", "trimmed", "checkpoint_version", "exempt_at"],
];

/** Returns the rows in replies that `guardOf` or `listedOf` of the scripts made. Damaged rows are left out. */
export function rowsIn(replies: readonly unknown[]): (ListedRow & LaterRun)[] {
  return replies.flatMap((reply) => {
    const [id, incarnation, status, owner, permit, numbers, ...listed] = replyList(reply).map(textIn);
    if (id == null || incarnation == null || numbers == null) return [];
    const { key = null, limit = null } = parsePermit(permit ?? null) ?? {};
    const told = numbers.split(" ");
    const columns = Object.fromEntries(numberColumns.map((column, index) => [column, told[index] || null]));
    const [definition = "", metadata = "", head = ""] = listed.map((text) => text ?? "");
    const named = { id, incarnation, status, owner, permit_key: key, permit_limit: limit, definition, metadata, head };
    const checkpoint = columns.checkpoint_version ?? null;
    return { ...listedRowOf({ ...named, ...columns }), checkpointVersion: checkpoint === null ? null : Number(checkpoint) };
  });
}

/** Reads a permit from the text `limit:key`. */
export function parsePermit(text: string | null): Permit | null {
  if (text === null || text === "") return null;
  const colon = text.indexOf(":");
  return { limit: Number(text.slice(0, colon)), key: text.slice(colon + 1) };
}

/** Returns the rows in a reply of the script `rowsOf`, and reads the rest of a long history. Null if the execution is missing or gone. */
export async function wholeRows(call: CallScript, workflowId: string, reply: readonly unknown[]): Promise<StoredRows | null> {
  if (reply.length === 0) return null;
  const [incarnation, version, status, head] = reply.slice(0, 4).map(textIn);
  // a damaged execution; its empty head makes the load fail with STORE_REJECTED
  if (incarnation == null || version == null || head == null) {
    return { workflowId, version: 0, status: "active", head: "", events: [], children: [] };
  }
  const first = Number(textIn(reply[6]));
  let events = replyList(reply[4]).map((row) => readEventRow(row).text);
  const missing = Number(version) + 1 - first - events.length;
  if (missing > 0) {
    const more = await eventsFrom(call, workflowId, first + events.length, missing, incarnation);
    if (!more) return null;
    // a later run began meanwhile, and the events before it were trimmed: then the execution is read again
    if (more.length > 0 && more[0]!.version !== first + events.length) {
      return wholeRows(call, workflowId, replyList((await call(loadScript, [workflowId], []))[0]));
    }
    // events are lost; without any events, the load fails as it does for a damaged execution
    events = more.length < missing ? [] : [...events, ...more.map(({ text }) => text)];
  }
  return { workflowId, version: Number(version), status: status as Status, head, events, children: childrenOf(replyList(reply[5])) };
}

/**
 * Reads a part of a history, with several calls if it is long. Null if the execution was deleted meanwhile, also if another one has its id.
 *
 * @param incarnation the incarnation to read; null: the one that the first call finds
 */
export async function eventsFrom(
  call: CallScript,
  id: string,
  from: number,
  limit: number,
  incarnation: string | null,
): Promise<readonly StoredEvent[] | null> {
  const events: StoredEvent[] = [];
  for (let [expected, first] = [incarnation, from]; events.length < limit; first = events.at(-1)!.version + 1) {
    const [found, rows, place, trimmed] = await call(eventsScript, [id], [String(first), String(limit - events.length)]);
    expected ??= textIn(found);
    if (textIn(found) !== expected) return null;
    if (replyList(rows).length === 0) break;
    const [at, gap] = [Number(textIn(place)), Number(textIn(trimmed))];
    // the first event of all is followed by the first one that was not trimmed
    const versionAt = (index: number): number => at + index + (at + index > 0 ? gap : 0);
    events.push(...replyList(rows).map((row, index) => ({ version: versionAt(index), ...readEventRow(row) })));
  }
  return events;
}

/** Returns the row of an event: the id of its commit as a JSON string, directly followed by the event. */
export function eventRow(commitId: string, event: string): string {
  return `${JSON.stringify(commitId)}${event}`;
}

/** Returns the two parts of the row of an event. If the row is damaged, the event is an empty text, which is not valid JSON. */
function readEventRow(row: unknown): Pick<StoredEvent, "commitId" | "text"> {
  const whole = String(row);
  const literal = /^"(?:[^"\\]|\\.)*"/.exec(whole)?.[0];
  if (literal === undefined) return { commitId: "", text: "" };
  return { commitId: JSON.parse(literal) as string, text: whole.slice(literal.length) };
}

/** Returns children in order of creation. In `pairs`, `=key` and `number:head` alternate; the number gives the order. */
function childrenOf(pairs: readonly unknown[]): StoredRows["children"] {
  const children: { ordinal: number; key: string; head: string }[] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const value = String(pairs[index + 1]);
    const colon = value.indexOf(":");
    children.push({ ordinal: Number(value.slice(0, Math.max(0, colon))), key: textIn(pairs[index]) ?? "", head: value.slice(colon + 1) });
  }
  return children.sort((a, b) => a.ordinal - b.ordinal).map(({ key, head }) => [key, head]);
}
