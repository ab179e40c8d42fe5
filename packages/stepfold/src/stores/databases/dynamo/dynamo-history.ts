import type { StoredEvent } from "../../kit/execution-rows.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import { changeChildren, ordinalOf } from "../../kit/row-rules.ts";
import type { WrittenChild } from "../../kit/writing/written-commit.ts";
import type { Item } from "./dynamo-client.ts";
import { damagedExecution, type Head, readHead } from "./dynamo-heads.ts";
import { headKey, nonEmpty, rowKey, rowRange, rowStart, versionOf } from "./dynamo-keys.ts";
import { type Connection, deleteItems, itemAt, itemsOf, pause, transact, updateAction } from "./dynamo-requests.ts";
import { dropTexts, readText, storeText, type TextOwner } from "./long-text.ts";

/** The events in the rows of commits. */
interface ReadEvents {
  readonly events: readonly StoredEvent[];
  /** The last versions of those commits that changed children. */
  readonly childrenAt: readonly number[];
}

/** How many times a read is repeated if another process is writing the same execution. */
const maxTries = 6;

/** How many rows of events are read and deleted together. */
const deletedTogether = 100;

/** The text of a row without children, because an attribute must not be empty. */
const noChildren = "[]";

/** The total length of the rows of children, in characters, from which replacing them by one row pays off: see `fold`. */
const minFoldedLength = 256 * 1024;

/** Yields the present head, up to seven times, for readers that find incomplete rows; null if there is no execution, or a tombstone. */
export async function* liveHeads(connection: Connection, id: string): AsyncGenerator<Head | null, void> {
  for (let tries = 0; tries <= maxTries; tries++) {
    if (tries > 0) await pause(tries + 1);
    const head = await readHead(connection, id);
    yield head?.deletedAt === null ? head : null;
  }
}

/**
 * Loads one version of an execution as a whole, also while other processes commit.
 *
 * Rows are written once and never changed, so the rows up to the version of the head are this version, also if later rows exist. A query
 * may run at the same time as a transaction, a deletion or a fold of children. Then a version is missing, and the head is read again.
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
    // if every try fails, rows without events are returned, which the kit reports as damaged
    damaged = { workflowId, version, status, head: "", events: [], children: [] };
  }
  return damaged;
}

/**
 * Returns true if children were not folded while they were read. This check is needed with a checkpoint, because then the events that were
 * read do not name all rows of children that must exist.
 */
async function areChildrenWhole(connection: Connection, { id, incarnation, checkpointVersion, foldedAt }: Head): Promise<boolean> {
  const now = checkpointVersion === null ? null : await readHead(connection, id);
  return !now || (now.incarnation === incarnation && now.deletedAt === null && now.foldedAt === foldedAt);
}

/** Reads at most `limit` events after a version, up to the head's version. @throws StepfoldError `STORE_REJECTED` if some are missing */
export async function readEvents(connection: Connection, id: string, after: number, limit: number): Promise<readonly StoredEvent[]> {
  for await (const head of liveHeads(connection, id)) {
    if (!head || after >= head.version) return [];
    const lastPlace = ordinalOf(after + 1, head) + limit - 1;
    const read = await eventsOf(connection, head, after, Math.min(head.version, lastPlace + (lastPlace > 0 ? head.trimmed : 0)));
    if (read) return read.events;
  }
  throw damagedExecution(id);
}

/** Reads the id of the commit that wrote a version; null if the version does not exist. */
export async function writerOf(connection: Connection, { pk, incarnation }: TextOwner, version: number): Promise<string | null> {
  const range = rowRange("e", incarnation, version, Number.MAX_SAFE_INTEGER);
  const [row] = await itemsOf(connection, pk, { ...range, limit: 1, only: ["commitId"] });
  return row ? String(row.commitId).slice(1) : null;
}

/** Deletes all rows of an incarnation, but not its head or tombstone. */
export async function deleteRows(connection: Connection, { pk, incarnation }: TextOwner): Promise<void> {
  for (const kind of ["c", "e", "p"] as const) {
    const from = rowStart(kind, incarnation);
    // "$" is the character after "#"
    const rows = await itemsOf(connection, pk, { from, to: `${from.slice(0, -1)}$`, only: ["sk"] });
    const sortKeys = rows.map(({ sk }) => String(sk));
    await deleteItems(connection, pk, sortKeys);
  }
}

/**
 * Writes children as lines of one text. JSON has no unescaped line breaks, so the heads need not be parsed and come back unchanged. Each
 * child has two lines: its key as JSON, and `-` if it is deleted, else its head after `=`, or after `+` if it comes after all others.
 */
export function joinChildren(children: readonly WrittenChild[]): string {
  return children.map(({ key, text, moved }) => `${JSON.stringify(key)}\n${text === null ? "-" : (moved ? "+" : "=") + text}`).join("\n");
}

function applyChildren(children: Map<string, string>, lines: string): void {
  const parts = lines.split("\n");
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const change = parts[at + 1]!;
    const text = change[0] === "-" ? null : change.slice(1);
    changeChildren(children, [{ key: JSON.parse(parts[at]!) as string, text, moved: change[0] === "+" }]);
  }
}

/** Deletes the rows of all events that are trimmed. The row of the first commit stays, because it has the first event. */
export async function deleteTrimmedEvents(connection: Connection, { pk, incarnation, trimmed }: Head): Promise<void> {
  const owner = { pk, incarnation };
  const [first] = await itemsOf(connection, pk, { ...rowRange("e", incarnation, 0, trimmed), limit: 1, only: ["sk"] });
  for (let rows: Item[] | null = null; first && rows?.length !== 0; ) {
    const range = rowRange("e", incarnation, versionOf(first) + 1, trimmed);
    rows = await itemsOf(connection, pk, { ...range, limit: deletedTogether, only: ["sk", "text"] });
    const texts = rows.map(({ text }) => String(text));
    await dropTexts(connection, owner, texts);
    const sortKeys = rows.map(({ sk }) => String(sk));
    await deleteItems(connection, pk, sortKeys);
  }
}

/** Reads the events after the version `after` up to the version `upTo` that are not trimmed; null if one of them is missing. */
async function eventsOf(connection: Connection, head: Head, after: number, upTo: number): Promise<ReadEvents | null> {
  const { trimmed } = head;
  if (after < 0 && trimmed > 0 && upTo > 0) {
    const [first, rest] = [await eventsOf(connection, head, after, 0), await eventsOf(connection, head, trimmed, upTo)];
    return first && rest && { events: [...first.events, ...rest.events], childrenAt: rest.childrenAt };
  }
  const events: StoredEvent[] = [];
  const childrenAt: number[] = [];
  let next = after < 0 ? 0 : Math.max(after, trimmed) + 1;
  if (next > upTo) return { events, childrenAt };
  // every row has at least one event, so `upTo - after` rows are enough; the last row may contain later events too
  const range = { ...rowRange("e", head.incarnation, next, Number.MAX_SAFE_INTEGER), limit: upTo + 1 - next };
  for (const item of await itemsOf(connection, head.pk, range)) {
    const lines = (await readText(connection, head, item.text))?.split("\n") ?? [];
    const last = versionOf(item);
    const first = last - lines.length + 1;
    // the first row may begin with earlier events
    if (lines.length === 0 || first > next) return null;
    const commitId = String(item.commitId).slice(1);
    for (; next <= Math.min(last, upTo); next++) events.push({ version: next, commitId, text: lines[next - first]! });
    if (item.children !== undefined) childrenAt.push(last);
    if (next > upTo) return { events, childrenAt };
  }
  return null;
}

/** Reads the children at the version of the head: JSON by key, in order of creation. Null if a row of `changedAt` or a text is missing. */
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
  const lines = joinChildren([...children].map(([key, text]) => ({ key, text, moved: false })));
  // a failed fold is ignored: the next load tries again
  if (readLength >= minFoldedLength && lines.length * 4 <= readLength) await fold(connection, head, rows, lines).catch(() => undefined);
  return children;
}

/**
 * Replaces the rows of children that commits wrote by one row with all children, if most of their text is outdated. So the size and the
 * load time of a map whose items change often stay within a few times the size of its children.
 *
 * It is done when an execution is loaded, because then the rows are read anyway.
 */
async function fold(connection: Connection, head: Head, rows: readonly Item[], lines: string): Promise<void> {
  const { pk, incarnation, version } = head;
  const key = { pk, sk: rowKey("c", incarnation, version) };
  const text = await storeText(connection, head, lines || noChildren);
  // not for an execution that was deleted meanwhile, and not twice for the same version
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
    // if the answer to a first attempt was lost, the second attempt finds the row already there: then its parts are in use
    if ((await itemAt(connection, key))?.text !== text) await dropTexts(connection, head, [text]);
    return;
  }
  const sortKeys = rows.map(({ sk }) => String(sk)).filter((sk) => sk !== key.sk);
  await deleteItems(connection, pk, sortKeys);
  const texts = rows.map((row) => String(row.text));
  await dropTexts(connection, head, texts);
}
