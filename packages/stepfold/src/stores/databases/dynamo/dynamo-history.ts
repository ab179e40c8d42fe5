import type { StoredEvent } from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { applyChildren } from "./commit-row.ts";
import type { Item } from "./dynamo-client.ts";
import { damagedExecution, type Head, readHead } from "./dynamo-heads.ts";
import { type RowKind, rowKey, rowStart } from "./dynamo-keys.ts";
import { type Connection, deleteItems, firstItems, itemsOf, pause } from "./dynamo-requests.ts";
import { type Children, foldAway } from "./fold-children.ts";
import { readText, storedTextIn } from "./long-text.ts";

/** What one commit wrote. */
interface Row {
  readonly first: number;
  readonly last: number;
  readonly commitId: string;
  readonly lines: readonly string[];
  readonly hasChildren: boolean;
}

/** How often what is just being written is read again. */
const maxTries = 6;

/**
 * The whole of one version, also while others commit.
 *
 * Rows are written once and never changed, so those up to the version of the head are that version, whatever follows.
 * A query may run into a transaction, a delete or a fold of children that is just being made: versions have no gaps, so it
 * shows, and the head is read again.
 */
export async function loadRows(connection: Connection, workflowId: string): Promise<StoredRows | null> {
  for (let tries = 0; ; tries++) {
    if (tries > 0) await pause(tries + 1);
    const head = await readHead(connection, workflowId);
    if (!head || head.deletedAt !== null) return null;
    const loaded = await loadVersion(connection, head);
    if (loaded) return loaded;
    // without events it is damaged
    if (tries === maxTries) return { workflowId, version: head.version, status: head.status, head: "", events: [], children: [] };
  }
}

async function loadVersion(connection: Connection, head: Head): Promise<StoredRows | null> {
  const { id: workflowId, version, status } = head;
  const rows = await rowsOf(connection, head, -1, version);
  const text = rows && (await readText(connection, head, head.head));
  const children = text === null ? null : await childrenOf(connection, head, rows!);
  if (text === null || children === null) return null;
  await foldAway(connection, head, children);
  return { workflowId, version, status, head: text, events: rows!.flatMap(({ lines }) => lines), children: [...children.texts] };
}

/** History after a version, never beyond the head. */
export async function readEvents(connection: Connection, workflowId: string, after: number, limit: number): Promise<StoredEvent[]> {
  for (let tries = 0; tries < maxTries; tries++) {
    if (tries > 0) await pause(tries + 1);
    const head = await readHead(connection, workflowId);
    if (!head || head.deletedAt !== null || after >= head.version) return [];
    const upTo = Math.min(head.version, after + limit);
    const rows = await rowsOf(connection, head, after, upTo, Math.min(upTo - after, 1000));
    if (!rows) continue;
    const all = rows.flatMap(({ first, commitId, lines }) => lines.map((text, index) => ({ version: first + index, commitId, text })));
    return all.filter(({ version }) => version > after && version <= upTo);
  }
  throw damagedExecution(workflowId);
}

/** Id of the commit that wrote a version; null if it is not there. */
export async function writerOf(connection: Connection, pk: string, incarnation: string, version: number): Promise<string | null> {
  const range = { ...rangeOf("e", incarnation, version, Number.MAX_SAFE_INTEGER), limit: 1, only: ["first", "commitId"] };
  const [row] = await firstItems(connection, pk, range);
  return row && Number(String(row.first)) <= version ? String(row.commitId).slice(1) : null;
}

/** Deletes the rows of an incarnation. */
export async function deleteRows(connection: Connection, pk: string, incarnation: string): Promise<void> {
  for (const kind of ["c", "e", "p"] as const) {
    const from = rowStart(kind, incarnation);
    // $ comes after # in the order of bytes
    const range = { from, to: `${from.slice(0, -1)}$`, only: ["sk"], limit: 1000 };
    for (let found: Item[] | null = null; found === null || found.length === range.limit; ) {
      found = await firstItems(connection, pk, range);
      await deleteItems(
        connection,
        found.map(({ sk }) => ({ pk, sk: String(sk) })),
      );
    }
  }
}

/** Rows with the versions after one up to another; null if one of these is missing. */
async function rowsOf(connection: Connection, head: Head, after: number, upTo: number, limit?: number): Promise<Row[] | null> {
  const rows: Row[] = [];
  let next = after + 1;
  // the last one may end beyond
  const range = { ...rangeOf("e", head.incarnation, next, Number.MAX_SAFE_INTEGER), limit };
  for await (const item of itemsOf(connection, head.pk, range)) {
    const text = await readText(connection, head, storedTextIn(item));
    if (text === null) return null;
    const row = rowOf(item, text);
    // the first one may begin before what was asked for
    if (rows.length === 0 ? row.first > next : row.first !== next) return null;
    rows.push(row);
    next = row.last + 1;
    if (next > upTo) return rows;
  }
  return null;
}

/** The children at the version of the head; null if a row of one of the commits is missing. */
async function childrenOf(connection: Connection, head: Head, rows: readonly Row[]): Promise<Children | null> {
  const { pk, incarnation, baseVersion } = head;
  const texts = new Map<string, string>();
  let readLength = 0;
  const apply = (lines: string): void => {
    readLength += lines.length;
    applyChildren(texts, lines);
  };
  if (baseVersion >= 0) {
    const base = await readText(connection, head, head.base);
    if (base === null) return null;
    apply(base);
  }
  const changed = rows.filter(({ last, hasChildren }) => hasChildren && last > baseVersion).map(({ last }) => last);
  if (changed.length === 0) return { texts, readLength };
  for await (const item of itemsOf(connection, pk, rangeOf("c", incarnation, changed[0]!, changed.at(-1)!))) {
    const lines = await readText(connection, head, storedTextIn(item));
    if (lines === null || Number(String(item.last)) !== changed.shift()) return null;
    apply(lines);
  }
  return changed.length === 0 ? { texts, readLength } : null;
}

function rangeOf(kind: RowKind, incarnation: string, from: number, to: number): { from: string; to: string } {
  const key = (version: number): string => rowKey("", kind, incarnation, version).sk;
  return { from: key(from), to: key(to) };
}

function rowOf({ first, last, commitId, children }: Item, text: string): Row {
  return {
    first: Number(String(first)),
    last: Number(String(last)),
    commitId: String(commitId).slice(1),
    lines: text.split("\n"),
    hasChildren: children !== undefined,
  };
}
