import { isTerminal, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { DueChange, NewExecution, RowHistory } from "../../kit/execution-table.ts";
import { joinChildren, joinEvents } from "./commit-row.ts";
import type { Attribute, Item, TransactAction } from "./dynamo-client.ts";
import { writerOf } from "./dynamo-history.ts";
import { type DueTime, type EndedList, keyedSortKey, nonEmpty, type RowKind, rowKey, timeSortKey } from "./dynamo-keys.ts";
import type { Connection } from "./dynamo-requests.ts";
import { dropTexts, type StoredText, storeText } from "./long-text.ts";

/** Attributes of an item; null removes one. */
export type Attributes = Readonly<Record<string, Attribute | null>>;

/** What of an execution's place in the indexes does not change. */
export interface IndexKey {
  /** In order of creation. */
  readonly made: string;
  /** Of its permit. */
  readonly key: string | null;
}

/** A commit that is about to be made: what of it is too long for an item is written before the transaction that makes it count. */
export class PendingCommit {
  readonly #connection: Connection;
  readonly #pk: string;
  readonly #incarnation: string;
  readonly #history: RowHistory;
  readonly #version: number;
  readonly #texts: StoredText[] = [];

  constructor(connection: Connection, id: string, incarnation: string, version: number, history: RowHistory) {
    this.#connection = connection;
    this.#pk = connection.keys.execution(id);
    this.#incarnation = incarnation;
    this.#version = version;
    this.#history = history;
  }

  /** Holds a text that is part of it. */
  async hold(text: string, inlineBytes?: number): Promise<StoredText> {
    const held = await storeText(this.#connection, { pk: this.#pk, incarnation: this.#incarnation }, text, inlineBytes);
    this.#texts.push(held);
    return held;
  }

  /** The rows of its events and of its children. */
  async rows(): Promise<TransactAction[]> {
    const { events, children } = this.#history;
    const hasChildren = children.length > 0;
    const rows = [await this.#row("e", joinEvents(events), hasChildren ? { children: 1 } : {})];
    if (hasChildren) rows.push(await this.#row("c", joinChildren(children), {}));
    return rows;
  }

  /** What it writes into the head. */
  async state(
    { version, status, head: text, wakeAt }: Pick<NewExecution, "version" | "status" | "head" | "wakeAt">,
    now: EpochMs,
  ): Promise<Attributes> {
    const { text: head, parts: headParts } = await this.hold(text);
    const listed = headParts === null ? null : listedOf(text);
    return { version, status, commitId: nonEmpty(this.#history.commitId), head, headParts, listed, wakeAt, updatedAt: now };
  }

  /** Deletes what was written before, once the commit was refused; unless an earlier attempt was made after all. */
  async drop(): Promise<void> {
    if (this.#texts.every(({ parts }) => parts === null)) return;
    const writer = await writerOf(this.#connection, this.#pk, this.#incarnation, this.#version);
    if (writer === this.#history.commitId) return;
    await dropTexts(this.#connection, { pk: this.#pk, incarnation: this.#incarnation }, this.#texts);
  }

  async #row(kind: RowKind, lines: string, more: Item): Promise<TransactAction> {
    const held = withoutNulls({ ...(await this.hold(lines)) });
    const { commitId, events } = this.#history;
    const versions = { first: events[0]?.version ?? this.#version, last: this.#version, commitId: nonEmpty(commitId) };
    const Item = { ...rowKey(this.#pk, kind, this.#incarnation, this.#version), ...versions, ...more, ...held };
    return { Put: { TableName: this.#connection.table, Item } };
  }
}

/** When an execution is due after a write; null for never. @param before when it was due, if it was and nobody held it */
export function dueTimeOf(due: DueChange, wakeAt: EpochMs | null, before: EpochMs | null, now: EpochMs): DueTime | null {
  if (due !== "atWakeUp") return { dueAt: now + due.inMs, isAtOnce: false };
  if (wakeAt === null) return null;
  return wakeAt <= 0 ? { dueAt: Math.min(before ?? now, now), isAtOnce: true } : { dueAt: wakeAt, isAtOnce: false };
}

/** Its place in the index of due times. */
export function dueAttributes(due: DueTime | null, { key, made }: IndexKey): Attributes {
  return { dueAt: due?.dueAt ?? null, dueSort: due && keyedSortKey(key, timeSortKey(due, made)) };
}

/** What an execution that ends has in place of a due time. */
export function endAttributes({ keys }: Connection, id: string, status: NewExecution["status"], made: string, now: EpochMs): Attributes {
  if (!isTerminal(status)) return {};
  return {
    endedAt: now,
    dueAt: null,
    dueList: keys.dueList(status as EndedList, id),
    dueSort: timeSortKey({ dueAt: now, isAtOnce: false }, made),
  };
}

/** Attributes that are there. */
export function withoutNulls(attributes: Attributes): Record<string, Attribute> {
  return Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, Attribute] => entry[1] !== null));
}

/** What a list needs of a head. */
function listedOf(head: string): string {
  const { currentNodeId } = JSON.parse(head) as Pick<SnapshotHead, "currentNodeId">;
  return JSON.stringify({ currentNodeId });
}
