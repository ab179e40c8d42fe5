import type { Event } from "../../../core/snapshot/event.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../../ports/snapshot-store.ts";
import { restoredSnapshot } from "../../kit/restored-snapshot.ts";
import { foldChildren } from "./commit-row.ts";
import type { Item } from "./dynamo-client.ts";
import { damagedExecution, type Head, readHead } from "./dynamo-heads.ts";
import { type RowKind, rowKey, rowStart } from "./dynamo-keys.ts";
import { type Connection, itemsOf, pause } from "./dynamo-requests.ts";
import { heldIn, readText } from "./long-text.ts";

/** An execution as it was at one version. */
export interface Loaded {
  readonly head: Head;
  readonly snapshot: Snapshot;
  /** Size of the texts that children were folded from, and JSON of their heads by key. */
  readonly children: Children;
}

interface Children {
  readonly readLength: number;
  readonly texts: ReadonlyMap<string, string>;
}

/** What one commit wrote. */
interface Row {
  readonly first: number;
  readonly last: number;
  readonly commitId: string;
  readonly lines: readonly string[];
  readonly hasChildren: boolean;
}

/**
 * The whole of one version, also while others commit.
 *
 * Rows are written once and never changed, so those up to the version of the head are that version, whatever follows.
 * A query may run into a transaction, a delete or a fold of children that is just being made: versions have no gaps, so it
 * shows, and the head is read again.
 *
 * @param start a head that was just read
 */
export async function loadExecution(connection: Connection, workflowId: string, start?: Head): Promise<Loaded | null> {
  let head: Head | null | undefined = start;
  for (let tries = 0; tries < 6; tries++) {
    if (tries > 0) await pause(tries + 1);
    head ??= await readHead(connection, workflowId);
    if (!head) return null;
    const loaded = await loadVersion(connection, head);
    if (loaded) return loaded;
    head = null;
  }
  throw damagedExecution(workflowId);
}

/** History after a version, never beyond the head. */
export async function readEvents(connection: Connection, workflowId: string, after: number, limit: number): Promise<AppendedRow[]> {
  for (let tries = 0; tries < 6; tries++) {
    if (tries > 0) await pause(tries + 1);
    const head = await readHead(connection, workflowId);
    if (!head || after >= head.version) return [];
    const upTo = Math.min(head.version, after + limit);
    const rows = await rowsOf(connection, head, after, upTo, Math.min(upTo - after, 1000));
    if (!rows) continue;
    const all = rows.flatMap(({ first, commitId, lines }) => lines.map((line, index) => ({ version: first + index, commitId, line })));
    const wanted = all.filter(({ version }) => version > after && version <= upTo);
    return wanted.map(({ version, commitId, line }) => ({ version, commitId, event: parsed(workflowId, line) }));
  }
  throw damagedExecution(workflowId);
}

/** Id of the commit that wrote a version that is there; null if its row is not. */
export async function writerOf(connection: Connection, head: Pick<Head, "pk" | "incarnation">, version: number): Promise<string | null> {
  const range = { ...rangeOf("e", head, version, Number.MAX_SAFE_INTEGER), limit: 1, only: ["first", "commitId"] };
  for (let tries = 0; tries < 4; tries++) {
    if (tries > 0) await pause(tries + 1);
    for await (const { first, commitId } of itemsOf(connection, head.pk, range)) {
      if (Number(String(first)) <= version) return String(commitId).slice(1);
      break;
    }
  }
  return null;
}

async function loadVersion(connection: Connection, head: Head): Promise<Loaded | null> {
  const { workflowId, version, status } = head;
  const rows = await rowsOf(connection, head, -1, version);
  const text = rows && (await readText(connection, head, head.head));
  const children = text === null ? null : await childrenOf(connection, head, rows!);
  if (text === null || children === null) return null;
  const events = rows!.flatMap(({ lines }) => lines);
  const snapshot = restoredSnapshot("dynamo", { workflowId, version, status, head: text, events, children: [...children.texts] });
  return { head, snapshot, children };
}

/** Rows with the versions after one up to another; null if one of these is missing. */
async function rowsOf(connection: Connection, head: Head, after: number, upTo: number, limit?: number): Promise<Row[] | null> {
  const rows: Row[] = [];
  let next = after + 1;
  // the last one may end beyond
  const range = { ...rangeOf("e", head, next, Number.MAX_SAFE_INTEGER), ...(limit !== undefined && { limit }) };
  for await (const item of itemsOf(connection, head.pk, range)) {
    const text = await readText(connection, head, heldIn(item));
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
  const { pk, baseVersion } = head;
  const texts = new Map<string, string>();
  let readLength = 0;
  const fold = (lines: string): void => {
    readLength += lines.length;
    foldChildren(texts, lines);
  };
  if (baseVersion >= 0) {
    const base = await readText(connection, head, head.base);
    if (base === null) return null;
    fold(base);
  }
  const changed = rows.filter(({ last, hasChildren }) => hasChildren && last > baseVersion).map(({ last }) => last);
  if (changed.length === 0) return { texts, readLength };
  for await (const item of itemsOf(connection, pk, rangeOf("c", head, changed[0]!, changed.at(-1)!))) {
    const lines = await readText(connection, head, heldIn(item));
    if (lines === null || Number(String(item.last)) !== changed.shift()) return null;
    fold(lines);
  }
  return changed.length === 0 ? { texts, readLength } : null;
}

function rangeOf(kind: RowKind, { incarnation }: Pick<Head, "incarnation">, from: number, to: number): { from: string; to: string } {
  const key = (version: number): string => rowKey("", kind, incarnation, version).sk;
  return { from: key(from), to: key(to) };
}

/** Every row of one incarnation. */
export function allRows(incarnation: string, kind: RowKind): { from: string; to: string } {
  // after # in the order of bytes
  return { from: rowStart(kind, incarnation), to: `${rowStart(kind, incarnation).slice(0, -1)}$` };
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

function parsed(workflowId: string, line: string): Event {
  try {
    return JSON.parse(line) as Event;
  } catch {
    throw damagedExecution(workflowId);
  }
}
