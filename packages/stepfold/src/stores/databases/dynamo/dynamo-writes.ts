import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Commit } from "../../../ports/snapshot-store.ts";
import { refuseOversize } from "../../kit/value-limit.ts";
import { refusal } from "../../kit/verdict.ts";
import { type WrittenCommit, writtenCommit } from "../../kit/written-commit.ts";
import { childLines, eventLines } from "./commit-row.ts";
import type { Attribute, Item, TransactAction } from "./dynamo-client.ts";
import { type Head, headOf, noteKey, readHead } from "./dynamo-heads.ts";
import { writerOf } from "./dynamo-history.ts";
import { headKey, type RowKind, rowKey, storedText, turnAt, turnIn, turnToWake } from "./dynamo-keys.ts";
import { type Connection, remember, transact, updateAction } from "./dynamo-requests.ts";
import type { Test } from "./expression.ts";
import { dropTexts, type HeldText, holdText } from "./long-text.ts";

/** What of a commit is written before the transaction that makes it count. */
export interface Prepared {
  readonly written: WrittenCommit;
  readonly pk: string;
  /** The attributes of the head that change with every commit. */
  readonly head: Readonly<Record<string, Attribute | null>>;
  /** The rows. */
  readonly rows: readonly TransactAction[];
  readonly texts: readonly HeldText[];
}

/** Writes a commit down. To be called at once: what the caller does with its values later does not matter. */
export function checkedCommit(commit: Commit, maxValueBytes: number): WrittenCommit {
  const written = writtenCommit(commit);
  refuseOversize("dynamo", maxValueBytes, written);
  return written;
}

/** Makes a commit. @param line key of the execution's permit */
export async function writeChange(connection: Connection, written: WrittenCommit, line: string | null): Promise<void> {
  const prepared = await prepare(connection, written);
  const { pk } = prepared;
  // an execution that somebody resumes or signals is rarely held
  let held = false;
  for (;;) {
    const set = { ...prepared.head, ...(await placeOf(connection, prepared, line, held)), ...countOf(written) };
    const change = { set, when: guardOf(written, held) };
    const update = { Update: updateAction(connection, { pk, sk: headKey }, change) };
    const outcome = await transact(connection, [update, ...prepared.rows]);
    if ("value" in outcome) return forgetLongHead(connection, prepared);
    const stored = headOf(connection, outcome.stored);
    if (stored && isOtherwiseHeld(written, stored, held)) {
      held = !held;
      continue;
    }
    const writer = await writerAt(connection, written, stored);
    const refused = refusal(written, stored, writer);
    if (!refused) return;
    // unless an earlier attempt of this very call has written it, or may still do so
    const isGone = stored?.incarnation !== written.incarnation;
    if (isGone || stored.version === written.expectedVersion || writer !== null)
      await dropTexts(connection, { pk, incarnation: written.incarnation }, prepared.texts);
    throw refused;
  }
}

/** Makes the rows of a commit, and writes the parts of what does not fit into an item. */
export async function prepare(connection: Connection, written: WrittenCommit): Promise<Prepared> {
  const { workflowId, incarnation, version, status, events, children, expectedVersion } = written;
  const pk = connection.keys.execution(workflowId);
  const texts: HeldText[] = [];
  const hold = async (text: string): Promise<HeldText> => {
    const held = await holdText(connection, { pk, incarnation }, text);
    texts.push(held);
    return held;
  };
  const commitId = storedText(written.commitId);
  const row = async (kind: RowKind, lines: string, more: Item): Promise<TransactAction> => {
    const held = present({ ...(await hold(lines)) });
    const item = { ...rowKey(pk, kind, incarnation, version), first: expectedVersion + 1, last: version, commitId, ...more, ...held };
    return { Put: { TableName: connection.table, Item: item } };
  };
  const hasChildren = children.length > 0;
  const rows = [await row("e", eventLines(events), hasChildren ? { children: 1 } : {})];
  if (hasChildren) rows.push(await row("c", childLines(children), {}));
  const { text: head, parts: headParts } = await hold(written.head);
  const listed = headParts === null ? null : listedOf(written.head);
  const { wakeAt } = written;
  return { written, pk, head: { version, status, commitId, head, headParts, listed, wakeAt, updatedAt: connection.now() }, rows, texts };
}

/** Where in the agenda the execution is to stand after a commit; nothing if that stays as it is. */
async function placeOf(
  connection: Connection,
  { written, pk }: Prepared,
  line: string | null,
  held: boolean,
): Promise<Record<string, Attribute | null>> {
  const { workflowId, incarnation, frees, fence } = written;
  // the step of a holder: no index is written
  if (!frees && (fence !== null || held)) return {};
  const made = connection.stamps.get(noteKey(pk, incarnation)) ?? (await readHead(connection, workflowId))?.made ?? "";
  return { ...agendaOf(connection, written, line, made), ...(frees && { owner: null }) };
}

/** What of `nextCrashes` a commit changes: its holder is alive. */
function countOf({ fence, frees }: WrittenCommit): Record<string, Attribute | null> {
  if (fence === null) return {};
  return { nextCrashes: frees ? null : 1 };
}

/** The place of an execution that nobody holds. */
export function agendaOf(
  { keys, now }: Connection,
  { workflowId, status, ended, wakeAt }: Pick<WrittenCommit, "workflowId" | "status" | "ended" | "wakeAt">,
  line: string | null,
  made: string,
): Record<string, Attribute | null> {
  const shard = keys.shardOf(workflowId);
  if (!ended) return { turn: wakeAt === null ? null : turnIn(line, turnToWake(wakeAt, now(), made)) };
  const endedAt: EpochMs = now();
  return { endedAt, lane: keys.lane(status as "completed", shard), turn: turnAt(endedAt, made) };
}

function guardOf({ incarnation, expectedVersion, fence, frees }: WrittenCommit, held: boolean): Test[] {
  const tests: Test[] = [
    ["incarnation", "=", storedText(incarnation)],
    ["version", "=", expectedVersion],
    ["endedAt", "absent"],
    ["deletedAt", "absent"],
  ];
  if (fence !== null) return [...tests, ["fence", "=", fence], ["owner", "exists"]];
  return frees ? tests : [...tests, ["owner", held ? "exists" : "absent"]];
}

/** True if nothing but the guess whether somebody holds it was wrong. */
function isOtherwiseHeld({ incarnation, expectedVersion, fence, frees }: WrittenCommit, stored: Head, held: boolean): boolean {
  const isNext = stored.incarnation === incarnation && stored.version === expectedVersion && stored.endedAt === null;
  return isNext && fence === null && !frees && (stored.owner !== null) !== held;
}

/** Deletes the parts of the head that was replaced, if this handle has met it. Others go with the execution. */
async function forgetLongHead(connection: Connection, { written, pk, head }: Prepared): Promise<void> {
  const { incarnation, expectedVersion, version } = written;
  const key = noteKey(pk, incarnation);
  const replaced = connection.longHeads.get(key);
  connection.longHeads.delete(key);
  if (typeof head.headParts === "string") remember(connection.longHeads, key, { version, parts: head.headParts });
  if (replaced?.version === expectedVersion) await dropTexts(connection, { pk, incarnation }, [{ text: null, parts: replaced.parts }]);
}

/** Id of the commit that wrote the version after the one that was expected, if one is there. */
export async function writerAt(
  connection: Connection,
  { incarnation, expectedVersion, version, commitId }: Pick<WrittenCommit, "incarnation" | "expectedVersion" | "version" | "commitId">,
  stored: Head | null,
): Promise<string | null> {
  if (stored?.incarnation !== incarnation || stored.version <= expectedVersion) return null;
  if (stored.version === version && stored.commitId === commitId) return commitId;
  return writerOf(connection, stored, expectedVersion + 1);
}

/** Attributes that are there. */
export function present(attributes: Readonly<Record<string, Attribute | null>>): Record<string, Attribute> {
  return Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, Attribute] => entry[1] !== null));
}

/** What a list needs of a head. */
function listedOf(head: string): string {
  const { currentNodeId } = JSON.parse(head) as Pick<SnapshotHead, "currentNodeId">;
  return JSON.stringify({ currentNodeId });
}
