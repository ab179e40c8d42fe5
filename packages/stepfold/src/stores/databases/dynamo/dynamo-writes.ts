import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import type { RowChanges, RowCondition, RowHistory, RowWrite, RowWritten } from "../../kit/execution-rows.ts";
import { shortHead } from "../../kit/lists/execution-page.ts";
import { meetsCondition } from "../../kit/row-rules.ts";
import { idFreeAt } from "../../kit/tombstones.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { Item, TransactAction } from "./dynamo-client.ts";
import { type Head, headOf, itemLayout, noteHead, readHead } from "./dynamo-heads.ts";
import { deleteRows, deleteTrimmedEvents, joinChildren, writerOf } from "./dynamo-history.ts";
import { dueSortKey, type EndedList, headKey, nonEmpty, type RowKind, rowKey, sortableNumber, timeSortKey } from "./dynamo-keys.ts";
import { type Connection, type KnownHead, putItem, replaceItem, transact, updateAction, updateItem } from "./dynamo-requests.ts";
import { type Attributes, conditionOf, type Test, withoutNulls } from "./expression.ts";
import { dropTexts, isInParts, storeText, type TextOwner } from "./long-text.ts";

type WriteOf<K extends RowWrite["kind"]> = RowWrite & { readonly kind: K };

/**
 * The most bytes of metadata, and of labels, in the item of the head, because every commit pays for the size of this item. Longer metadata
 * is stored in parts; longer labels are left out, and a list then checks the metadata.
 */
const maxMetadataInHead = 1024;

/** Makes a write. Null if its condition does not hold. */
export function writeRow(connection: Connection, write: RowWrite): Promise<RowWritten | null> {
  if (write.kind === "insert") return insert(connection, write);
  if (write.kind === "trim") return trim(connection, write);
  return write.kind === "update" ? update(connection, write) : remove(connection, write);
}

async function insert(connection: Connection, { id, row, history }: WriteOf<"insert">): Promise<RowWritten | null> {
  const { keys, table } = connection;
  const { incarnation, version, status, permit, definition, definitionId, fence, owner, due } = row;
  const pk = keys.execution(id);
  const pending = await pendingCommit(connection, { pk, incarnation }, row, history);
  const now = connection.now();
  // sorts by time; executions of one process are in the order of their creation
  const made = `${sortableNumber(now)}.${sortableNumber(connection.nextSeq())}`;
  const attributes = {
    ...{ layout: itemLayout, incarnation: nonEmpty(incarnation), definitionId: nonEmpty(definitionId), definition, made },
    ...{ permitKey: permit && nonEmpty(permit.key), permitLimit: permit?.limit ?? null, ...(await listedOf(pending, row)) },
    ...{ listPartition: keys.listPartition("list", id), dueList: keys.listPartition(permit ? "keyed" : "due", id) },
    ...changesOf(connection, id, { state: row, owner, fence, due }, { made, permit }, null, now),
    ...pending.state,
  };
  const put = { TableName: table, Item: { pk, sk: headKey, ...withoutNulls(attributes) }, ...conditionOf([["pk", "absent"]]) };
  if (!(await transact(connection, [{ Put: put }, ...pending.rows]))) {
    await pending.drop();
    return null;
  }
  noteHead(connection, { pk, incarnation, made, permit, version, head: pending.state.head });
  return { now, version, status };
}

async function update(connection: Connection, { id, when, set, history }: WriteOf<"update">): Promise<RowWritten | null> {
  const { state, due, dueUnlessHeld } = set;
  const { incarnation } = when;
  const pk = connection.keys.execution(id);
  const key = { pk, sk: headKey };
  const last = connection.known.get(pk);
  const noted = last?.incarnation === incarnation ? last : null;
  // the sort keys of indexes contain when the execution was made, and its permit
  const isKeyWritten = due !== undefined || set.permit !== undefined || typeof state?.exemptAt === "number";
  const moves = set.permit !== undefined && !(noted && keyOf(noted.permit) === keyOf(set.permit));
  const isHeadNeeded = (isKeyWritten && !noted) || moves || (due && (dueUnlessHeld || (due === "atWakeUp" && !state)));
  const head = isHeadNeeded ? await readHead(connection, id) : null;
  if (isHeadNeeded && !(head && meetsCondition(head, when, connection.now()))) return null;
  const known = head ?? noted;
  const pending = history && state && (await pendingCommit(connection, { pk, incarnation }, state, history));
  const now = connection.now();
  const listed = pending && (await listedOf(pending, set));
  const present = known && { made: known.made, permit: moves ? (set.permit ?? null) : known.permit };
  const reopened = when.open === false && { endedAt: null, dueList: connection.keys.listPartition(present?.permit ? "keyed" : "due", id) };
  const attributes = {
    ...(moves && moveOf(connection, id, present!, head!)),
    ...changesOf(connection, id, set, present, head, now),
    ...{ ...reopened, ...listed, ...pending?.state },
  };
  const tests: Test[] = [
    ...testsOf(when, now),
    ...(dueUnlessHeld ? [["owner", head?.owner == null ? "absent" : "exists"] as Test] : []),
    // what is written depends on what is known of the partition, which another process may have changed; the next read tells
    ...(isKeyWritten && known ? [permitTest(known)] : []),
    ...(moves && when.version === undefined ? [["version", "=", head!.version] as Test] : []),
  ];
  if (!pending) {
    const item = await updateItem(connection, key, attributes, tests);
    if (!item) return null;
    const { version, status } = headOf(connection, item);
    return { now, version, status };
  }
  if (!(await transact(connection, [{ Update: updateAction(connection, key, attributes, tests) }, ...pending.rows]))) {
    await pending.drop();
    return null;
  }
  const { version, status } = state;
  if (known) {
    noteHead(connection, { ...known, ...present, version, head: pending.state.head });
    // delete the parts of the replaced head, if this store object knows them; other parts are deleted with the execution
    if (known.version < version) await dropTexts(connection, known, [known.head]);
  }
  return { now, version, status };
}

function keyOf(permit: Permit | null | undefined): string | null {
  return permit?.key ?? null;
}

/** The condition that the execution is due in the partition in which it was seen. */
function permitTest({ permit }: Pick<KnownHead, "permit">): Test {
  return permit ? ["permitKey", "=", nonEmpty(permit.key)] : ["permitKey", "absent"];
}

/** The attributes of an execution that moves into another partition, where it is due when it was due before. */
function moveOf({ keys }: Connection, id: string, { permit, made }: Pick<KnownHead, "permit" | "made">, head: Head): Attributes {
  const { dueAt, owner, wakeAt } = head;
  const partition = { permitKey: permit && nonEmpty(permit.key), permitLimit: permit?.limit ?? null };
  if (dueAt === null)
    return head.endedAt === null ? { ...partition, dueList: keys.listPartition(permit ? "keyed" : "due", id) } : partition;
  const isAtOnce = owner === null && wakeAt !== null && wakeAt <= 0;
  const dueSort = dueSortKey({ key: keyOf(permit), dueAt, isAtOnce, made });
  return { ...partition, dueList: keys.listPartition(permit ? "keyed" : "due", id), dueSort };
}

/**
 * Deletes events of earlier runs. The head first says that they are trimmed, so that readers leave them out. The mark of the run goes last:
 * until then a trim that was interrupted is made again.
 */
async function trim(connection: Connection, { id, when }: WriteOf<"trim">): Promise<RowWritten | null> {
  const now = connection.now();
  const tests = testsOf(when, now);
  const key = { pk: connection.keys.execution(id), sk: headKey };
  const marked = await updateItem(connection, key, { trimmed: when.runSince - 1 }, tests);
  if (!marked) return null;
  const head = headOf(connection, marked);
  await deleteTrimmedEvents(connection, head);
  await updateItem(connection, key, { runSince: null, runList: null, runSort: null }, tests);
  return { now, version: head.version, status: head.status };
}

/**
 * Replaces the head by a tombstone, or removes a tombstone. The tombstone is one write, after which the execution is no longer found. Then
 * the rows are deleted. If that is interrupted, the remaining rows are deleted together with the tombstone; their keys contain the
 * incarnation, so no other execution ever reads them.
 */
async function remove(connection: Connection, { kind, id, when }: WriteOf<"bury" | "remove">): Promise<RowWritten | null> {
  const head = await readHead(connection, id);
  const now = connection.now();
  if (!head || !meetsCondition(head, when, now)) return null;
  const { pk, incarnation, version, status, fence, made } = head;
  const key = { pk, sk: headKey };
  if (kind === "remove") {
    await deleteRows(connection, head);
    await replaceItem(connection, key, null, testsOf(when, now));
    return { now, version, status };
  }
  const fields = { layout: itemLayout, incarnation: nonEmpty(incarnation), version, status, made, fence, deletedAt: now };
  const tombstone = { ...key, ...fields, dueList: connection.keys.listPartition("deleted", id), dueSort: timeSortKey(now, made) };
  const isMade = await putItem(connection, tombstone, testsOf(when, now));
  // if the answer to a first attempt was lost, the second attempt finds its own tombstone
  if (!isMade && (await readHead(connection, id))?.deletedAt !== now) return null;
  try {
    await deleteRows(connection, head);
    // without rows, the tombstone may be deleted by DynamoDB itself, by its time to live
    const expiresAt = Math.ceil(idFreeAt(now, connection.retentionMs) / 1000);
    await updateItem(connection, key, { expiresAt }, [["deletedAt", "=", now]]);
  } catch {
    // the tombstone is written: the remaining rows are deleted together with it
  }
  return { now, version, status };
}

/** Returns the attributes of the head that a write changes, without those of `PendingCommit`. @param head the head, if it was read */
function changesOf(
  { keys }: Connection,
  id: string,
  { state, owner, due, dueUnlessHeld, metadata: _, labels: __, permit: ___, ...columns }: RowChanges,
  known: Pick<KnownHead, "made" | "permit"> | null,
  head: Head | null,
  now: EpochMs,
): Attributes {
  const entry = { key: known?.permit?.key ?? null, made: known?.made ?? "" };
  const changes: Record<string, Attributes[string]> = { ...columns };
  if (owner !== undefined) changes.owner = owner === null ? null : nonEmpty(owner);
  if (due && !(dueUnlessHeld && head!.owner !== null)) {
    const { wakeAt = null } = state ?? head ?? {};
    const isAtOnce = due === "atWakeUp" && wakeAt !== null && wakeAt <= 0;
    const since = Math.min((dueUnlessHeld ? head!.dueAt : null) ?? now, now);
    const dueAt = due !== "atWakeUp" ? now + due.inMs : isAtOnce ? since : wakeAt;
    changes.dueAt = dueAt;
    changes.dueSort = dueAt === null ? null : dueSortKey({ ...entry, dueAt, isAtOnce });
  }
  if (state) changes.updatedAt = now;
  if (state?.trimmed !== undefined) changes.trimmed = state.trimmed;
  if (state?.exemptAt !== undefined) {
    const { exemptAt } = state;
    changes.exemptList = exemptAt === null ? null : keys.listPartition("exempt", id);
    changes.exemptSort = exemptAt === null ? null : timeSortKey(exemptAt, entry.made);
  }
  if (state?.run) {
    const { since, at } = state.run;
    Object.assign(changes, { runSince: since, runList: keys.listPartition("run", id), runSort: sortableNumber(Math.ceil(at)) });
  }
  if (!state || !isTerminal(state.status)) return changes;
  const dueList = keys.listPartition(state.status as EndedList, id);
  return { ...changes, endedAt: now, dueAt: null, dueList, dueSort: timeSortKey(now, entry.made) };
}

async function listedOf(pending: PendingCommit, { metadata, labels }: Pick<RowChanges, "metadata" | "labels">): Promise<Attributes> {
  if (metadata === undefined || labels === undefined) return {};
  const tags = bytesOf(labels) > maxMetadataInHead ? null : nonEmpty(labels);
  return { metadata: await pending.hold(metadata, maxMetadataInHead), tags };
}

/** A commit before its transaction. Texts that are too long for an item are written already; they count once an item refers to them. */
interface PendingCommit {
  /** The actions that write the rows of its events and of its children. */
  readonly rows: readonly TransactAction[];
  /** The attributes of the head. */
  readonly state: Attributes & { readonly head: string };
  /** Stores another text of the commit, and returns the value of its attribute (see `storeText`). */
  hold(text: string, inlineBytes?: number): Promise<string>;
  /** After the commit was refused: deletes the parts of its texts, unless an earlier attempt was made and uses them. */
  drop(): Promise<void>;
}

/** Prepares a commit. */
async function pendingCommit(
  connection: Connection,
  owner: TextOwner,
  { version, status, head: text, sizeBytes, wakeAt, checkpointVersion }: NonNullable<RowChanges["state"]>,
  { commitId, events, children }: RowHistory,
): Promise<PendingCommit> {
  const held: string[] = [];
  const hold = async (one: string, inlineBytes?: number): Promise<string> => {
    const stored = await storeText(connection, owner, one, inlineBytes);
    held.push(stored);
    return stored;
  };
  const row = async (kind: RowKind, lines: string, more: Item): Promise<TransactAction> => {
    const key = { pk: owner.pk, sk: rowKey(kind, owner.incarnation, version) };
    return { Put: { TableName: connection.table, Item: { ...key, ...more, text: await hold(lines) } } };
  };
  const lines = events.map((event) => event.text).join("\n");
  const rows = [await row("e", lines, { commitId: nonEmpty(commitId), ...(children.length > 0 && { children: 1 }) })];
  if (children.length > 0) rows.push(await row("c", joinChildren(children), {}));
  const head = await hold(text);
  const checkpointed = checkpointVersion !== undefined && { checkpointVersion };
  return {
    rows,
    state: { version, status, sizeBytes, wakeAt, head, listed: isInParts(head) ? shortHead(text) : null, ...checkpointed },
    hold,
    async drop() {
      if (held.some(isInParts) && (await writerOf(connection, owner, version)) !== commitId) await dropTexts(connection, owner, held);
    },
  };
}

/** Translates the condition of a write into tests on attributes. */
function testsOf({ incarnation, version, fence, held, open, due, deleted = false, runSince }: RowCondition, now: EpochMs): Test[] {
  const tests: Test[] = [
    ["incarnation", "=", nonEmpty(incarnation)],
    ["deletedAt", deleted ? "exists" : "absent"],
  ];
  if (version !== undefined) tests.push(["version", "=", version]);
  if (fence !== undefined) tests.push(["fence", "=", fence]);
  if (held !== undefined) tests.push(["owner", held ? "exists" : "absent"]);
  if (open !== undefined) tests.push(["endedAt", open ? "absent" : "exists"]);
  if (runSince !== undefined) tests.push(["runSince", "=", runSince]);
  if (!due) return tests;
  const isDue: Test = ["dueAt", "<=", now];
  // an execution that is due at once and not held is due whatever the clock says
  return [...tests, held ? isDue : { either: [isDue, ["wakeAt", "<=", 0]] }];
}
