import type { StoredEvent } from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { changeChildren } from "../../kit/row-rules.ts";
import type { WrittenChild } from "../../kit/writing/written-commit.ts";
import type { Item } from "./dynamo-client.ts";
import { damagedExecution, type Head, readHead } from "./dynamo-heads.ts";
import { headKey, nonEmpty, rowKey, rowRange, rowStart, versionOf } from "./dynamo-keys.ts";
import { type Connection, deleteItems, itemAt, itemsOf, pause, transact, updateAction } from "./dynamo-requests.ts";
import { dropTexts, readText, storeText, type TextOwner } from "./long-text.ts";

/** What rows of commits say. */
interface ReadEvents {
  readonly events: readonly StoredEvent[];
  /** Versions of those commits that changed children. */
  readonly childrenAt: readonly number[];
}

/** How often what is just being written is read again. */
const maxTries = 6;

/** A text without a single child: no attribute is empty. */
const noChildren = "[]";

/** Length of the texts of children from which it is worth it to fold them. */
const minFoldedLength = 256 * 1024;

/** The head, again while what is just being written is not whole; null if there is no execution, or a tombstone. */
export async function* liveHeads(connection: Connection, id: string): AsyncGenerator<Head | null, void> {
  for (let tries = 0; tries <= maxTries; tries++) {
    if (tries > 0) await pause(tries + 1);
    const head = await readHead(connection, id);
    yield head?.deletedAt === null ? head : null;
  }
}

/**
 * The whole of one version, also while others commit.
 *
 * Rows are written once and never changed, so those up to the version of the head are that version, whatever follows.
 * A query may run into a transaction, a delete or a fold of children that is just being made: versions have no gaps, so it
 * shows, and the head is read again.
 */
export async function loadRows(connection: Connection, workflowId: string): Promise<StoredRows | null> {
  let damaged: StoredRows | null = null;
  for await (const head of liveHeads(connection, workflowId)) {
    if (!head) return null;
    const { version, status, checkpointVersion } = head;
    const read = await eventsOf(connection, head, checkpointVersion ?? -1, version);
    const text = read && (await readText(connection, head, head.head));
    const children = text === null ? null : await childrenOf(connection, head, read!.childrenAt);
    if (children && (await areChildrenWhole(connection, head)))
      return { workflowId, version, status, head: text!, events: read!.events.map((one) => one.text), children: [...children] };
    // what has no events is damaged
    damaged = { workflowId, version, status, head: "", events: [], children: [] };
  }
  return damaged;
}

/** Whether nobody has folded children while they were read: with a checkpoint the events do not tell of all rows that there must be. */
async function areChildrenWhole(connection: Connection, { id, incarnation, checkpointVersion, foldedAt }: Head): Promise<boolean> {
  const now = checkpointVersion === null ? null : await readHead(connection, id);
  return !now || (now.incarnation === incarnation && now.deletedAt === null && now.foldedAt === foldedAt);
}

/** History after a version, never beyond the head. */
export async function readEvents(connection: Connection, id: string, after: number, limit: number): Promise<readonly StoredEvent[]> {
  for await (const head of liveHeads(connection, id)) {
    if (!head || after >= head.version) return [];
    const read = await eventsOf(connection, head, after, Math.min(head.version, after + limit));
    if (read) return read.events;
  }
  throw damagedExecution(id);
}

/** Id of the commit that wrote a version; null if it is not there. */
export async function writerOf(connection: Connection, { pk, incarnation }: TextOwner, version: number): Promise<string | null> {
  const range = rowRange("e", incarnation, version, Number.MAX_SAFE_INTEGER);
  const [row] = await itemsOf(connection, pk, { ...range, limit: 1, only: ["commitId"] });
  return row ? String(row.commitId).slice(1) : null;
}

/** Deletes the rows of an incarnation. */
export async function deleteRows(connection: Connection, { pk, incarnation }: TextOwner): Promise<void> {
  for (const kind of ["c", "e", "p"] as const) {
    const from = rowStart(kind, incarnation);
    // $ comes after # in the order of bytes
    const rows = await itemsOf(connection, pk, { from, to: `${from.slice(0, -1)}$`, only: ["sk"] });
    const sortKeys = rows.map(({ sk }) => String(sk));
    await deleteItems(connection, pk, sortKeys);
  }
}

/**
 * Children as the lines of one text: JSON has no raw line breaks, so every line comes back as it was, to the byte, without
 * being parsed. Two lines a child: its key as JSON, and `-` if it is deleted, else `=` or, if it comes after all others, `+`
 * with its head.
 */
export function joinChildren(children: readonly WrittenChild[]): string {
  return children.map(({ key, text, last }) => `${JSON.stringify(key)}\n${text === null ? "-" : (last ? "+" : "=") + text}`).join("\n");
}

function applyChildren(children: Map<string, string>, lines: string): void {
  const parts = lines.split("\n");
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const change = parts[at + 1]!;
    const text = change[0] === "-" ? null : change.slice(1);
    changeChildren(children, [{ key: JSON.parse(parts[at]!) as string, text, last: change[0] === "+" }]);
  }
}

/** Events after a version up to another; null if one of these is missing. */
async function eventsOf(connection: Connection, head: Head, after: number, upTo: number): Promise<ReadEvents | null> {
  const events: StoredEvent[] = [];
  const childrenAt: number[] = [];
  let next = after + 1;
  if (next > upTo) return { events, childrenAt };
  // every row has an event at least, and the last one may end beyond
  const range = { ...rowRange("e", head.incarnation, next, Number.MAX_SAFE_INTEGER), limit: upTo - after };
  for (const item of await itemsOf(connection, head.pk, range)) {
    const lines = (await readText(connection, head, item.text))?.split("\n") ?? [];
    const last = versionOf(item);
    const first = last - lines.length + 1;
    // the first row may begin before what was asked for
    if (lines.length === 0 || first > next) return null;
    const commitId = String(item.commitId).slice(1);
    for (; next <= Math.min(last, upTo); next++) events.push({ version: next, commitId, text: lines[next - first]! });
    if (item.children !== undefined) childrenAt.push(last);
    if (next > upTo) return { events, childrenAt };
  }
  return null;
}

/** The children at the version of the head: JSON of their heads by key, in order of creation. Null if a row of `changedAt` is missing. */
async function childrenOf(connection: Connection, head: Head, changedAt: readonly number[]): Promise<ReadonlyMap<string, string> | null> {
  const children = new Map<string, string>();
  if (changedAt.length === 0 && head.checkpointVersion === null) return children;
  const rows = await itemsOf(connection, head.pk, rowRange("c", head.incarnation, 0, head.version));
  let missing = new Set(changedAt);
  let readLength = 0;
  for (const row of rows) {
    const lines = await readText(connection, head, row.text);
    if (lines === null) return null;
    const version = versionOf(row);
    if (row.isWhole) {
      children.clear();
      missing = new Set(changedAt.filter((changed) => changed > version));
    }
    missing.delete(version);
    applyChildren(children, lines);
    readLength += lines.length;
  }
  if (missing.size > 0) return null;
  const lines = joinChildren([...children].map(([key, text]) => ({ key, text, last: false })));
  // nothing depends on it: the next load tries again
  if (readLength >= minFoldedLength && lines.length * 4 <= readLength) await fold(connection, head, rows, lines).catch(() => undefined);
  return children;
}

/**
 * Puts a row with all children in the place of those that commits wrote, if most of what these say no longer counts: so a map
 * whose items change again and again takes no more room, and no longer to load, than a few times what is there.
 *
 * Done when an execution is loaded, which has read them anyway.
 */
async function fold(connection: Connection, head: Head, rows: readonly Item[], lines: string): Promise<void> {
  const { pk, incarnation, version } = head;
  const key = { pk, sk: rowKey("c", incarnation, version) };
  const text = await storeText(connection, head, lines || noChildren);
  // neither of an execution that was deleted meanwhile, nor twice
  const mark = updateAction(connection, { pk, sk: headKey }, { foldedAt: version }, [
    ["incarnation", "=", nonEmpty(incarnation)],
    ["deletedAt", "absent"],
    {
      either: [
        ["foldedAt", "absent"],
        ["foldedAt", "<=", version - 1],
      ],
    },
  ]);
  const put = { TableName: connection.table, Item: { ...key, isWhole: 1, text } };
  if (!(await transact(connection, [{ Update: mark }, { Put: put }]))) {
    // if the answer to the first attempt was lost, the second finds its own work
    if ((await itemAt(connection, key))?.text !== text) await dropTexts(connection, head, [text]);
    return;
  }
  const sortKeys = rows.map(({ sk }) => String(sk)).filter((sk) => sk !== key.sk);
  await deleteItems(connection, pk, sortKeys);
  const texts = rows.map((row) => String(row.text));
  await dropTexts(connection, head, texts);
}
