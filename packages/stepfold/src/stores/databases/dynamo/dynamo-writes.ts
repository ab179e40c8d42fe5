import type { EpochMs } from "../../../core/values/json.ts";
import type { RowCondition, RowWrite, RowWritten } from "../../kit/execution-table.ts";
import { meetsCondition } from "../../kit/row-rules.ts";
import { idFreeAt } from "../../kit/tombstones.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { Attribute } from "./dynamo-client.ts";
import { type Attributes, dueAttributes, dueTimeOf, endAttributes, type IndexKey, PendingCommit, withoutNulls } from "./dynamo-commit.ts";
import { type Head, headOf, readHead } from "./dynamo-heads.ts";
import { deleteRows } from "./dynamo-history.ts";
import { headKey, nonEmpty, sortable, timeSortKey } from "./dynamo-keys.ts";
import { type Connection, conditional, transact, updateAction, updateItem } from "./dynamo-requests.ts";
import { conditionOf, type Test } from "./expression.ts";
import { dropTexts } from "./long-text.ts";

type Insert = RowWrite & { readonly kind: "insert" };
type Update = RowWrite & { readonly kind: "update" };
type Deletion = RowWrite & { readonly kind: "bury" | "remove" };

/** Most bytes of metadata that lie in the head, and most bytes of labels: every commit pays for its size. */
const maxMetadataInHead = 1024;

type NotedFields = Pick<Head, "pk" | "incarnation" | "made" | "permit" | "version" | "head">;

/** What later writes need of an execution that this handle has read or written. */
interface KnownHead extends IndexKey {
  /** Parts of the head at a version: the commit that replaces it deletes them. */
  readonly version: number;
  readonly headParts: string | null;
}

/** Writes executions: their heads, and the rows of commits. */
export class DynamoWriter {
  readonly #connection: Connection;
  readonly #retentionMs: number;
  /** By partition and incarnation. */
  readonly #notes = new Map<string, KnownHead>();
  #lastMadeAt = -1;
  #madeThen = 0;

  constructor(connection: Connection, retentionMs: number) {
    this.#connection = connection;
    this.#retentionMs = retentionMs;
  }

  /** Makes a write. Null if its condition does not hold. */
  write(write: RowWrite): Promise<RowWritten | null> {
    if (write.kind === "insert") return this.#insert(write);
    return write.kind === "update" ? this.#update(write) : this.#delete(write);
  }

  /** Remembers what later writes need of a head. */
  note({ pk, incarnation, made, permit, version, head }: NotedFields): KnownHead {
    const note = { made, key: permit?.key ?? null, version, headParts: head.parts };
    this.#notes.set(`${incarnation}\n${pk}`, note);
    // only some of many
    if (this.#notes.size > 10_000) this.#notes.delete(this.#notes.keys().next().value!);
    return note;
  }

  async #insert({ id, row, history }: Insert): Promise<RowWritten | null> {
    const { keys, table } = this.#connection;
    const { incarnation, version, status, permit, definition, fence, owner } = row;
    const pk = keys.execution(id);
    const pending = new PendingCommit(this.#connection, id, incarnation, version, history);
    const rows = await pending.rows();
    const metadata = await pending.hold(row.metadata, maxMetadataInHead);
    const now = this.#connection.now();
    const place = { made: this.#nextPlace(now), key: permit?.key ?? null };
    const state = await pending.state(row, now);
    const Item = {
      ...{ pk, sk: headKey },
      ...withoutNulls({
        ...{ incarnation: nonEmpty(incarnation), fence, owner: owner === null ? null : nonEmpty(owner) },
        ...{ definition, definitionId: nonEmpty(row.definitionId), metadata: metadata.text, metadataParts: metadata.parts },
        ...{ permitKey: permit && nonEmpty(permit.key), permitLimit: permit?.limit ?? null, tags: tagsOf(row.labels) },
        ...{ made: place.made, listPartition: keys.listPartition(id), dueList: keys.dueList(permit ? "keyed" : "due", id) },
        ...dueAttributes(dueTimeOf(row.due, row.wakeAt, null, now), place),
        ...endAttributes(this.#connection, id, status, place.made, now),
        ...state,
      }),
    };
    const condition = { ...conditionOf([["pk", "absent"]]), ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
    const outcome = await transact(this.#connection, [{ Put: { TableName: table, Item, ...condition } }, ...rows]);
    if ("stored" in outcome) {
      // of the same incarnation it is this very commit, made by an earlier attempt
      if (headOf(this.#connection, outcome.stored)?.incarnation !== incarnation) await pending.drop();
      return null;
    }
    const head = { text: null, parts: state.headParts as string | null };
    this.note({ pk, incarnation, made: place.made, permit, version, head });
    return { now, version, status };
  }

  async #update({ id, when, set, history }: Update): Promise<RowWritten | null> {
    const { state, due, owner, dueUnlessHeld, ...columns } = set;
    const key = { pk: this.#connection.keys.execution(id), sk: headKey };
    const noted = this.#notes.get(`${when.incarnation}\n${key.pk}`);
    const isWakeStored = due === "atWakeUp" && !state;
    const head = due && (dueUnlessHeld || isWakeStored || !noted) ? await readHead(this.#connection, id) : null;
    const place = head ? this.note(head) : noted;
    if (due && (!place || (head && !meetsCondition(head, { ...when, due: undefined } as unknown as RowCondition, 0)))) return null;
    const now = this.#connection.now();
    const pending = history && state && new PendingCommit(this.#connection, id, when.incarnation, state.version, history);
    const rows = pending ? await pending.rows() : [];
    const isHeldByOther = dueUnlessHeld && head?.owner != null;
    const attributes: Attributes = {
      ...columns,
      ...(owner !== undefined && { owner: owner === null ? null : nonEmpty(owner) }),
      ...(due &&
        !isHeldByOther &&
        dueAttributes(dueTimeOf(due, (state ?? head)?.wakeAt ?? null, dueUnlessHeld ? head!.dueAt : null, now), place!)),
      ...(state && endAttributes(this.#connection, id, state.status, place?.made ?? "", now)),
      ...(pending && (await pending.state(state, now))),
    };
    const tests = [...testsOf(when, now), ...(dueUnlessHeld ? [["owner", isHeldByOther ? "exists" : "absent"] as const] : [])];
    const change = { set: attributes, when: tests };
    if (!pending) {
      const outcome = await updateItem(this.#connection, key, change);
      const written = "value" in outcome ? headOf(this.#connection, outcome.value) : null;
      return written && { now, version: written.version, status: written.status };
    }
    const outcome = await transact(this.#connection, [{ Update: updateAction(this.#connection, key, change) }, ...rows]);
    if ("stored" in outcome) {
      await pending.drop();
      return null;
    }
    await this.#replaceHead(key.pk, when.incarnation, place, state.version, attributes.headParts as string | null);
    return { now, version: state.version, status: state.status };
  }

  /** Deletes the parts of the head that was replaced, if this handle has met it. Others go with the execution. */
  async #replaceHead(
    pk: string,
    incarnation: string,
    old: KnownHead | undefined,
    version: number,
    headParts: string | null,
  ): Promise<void> {
    if (!old) return;
    this.#notes.set(`${incarnation}\n${pk}`, { ...old, version, headParts });
    await dropTexts(this.#connection, { pk, incarnation }, [{ text: null, parts: old.version < version ? old.headParts : null }]);
  }

  /**
   * Leaves a tombstone in the place of a head, which is one write: from then on nothing is found. Then the rows go. If that ends
   * early they go with the tombstone; rows carry the incarnation, so no other execution ever meets them.
   */
  async #delete({ kind, id, when }: Deletion): Promise<RowWritten | null> {
    const { client, table, keys, now: clock } = this.#connection;
    const head = await readHead(this.#connection, id);
    const now = clock();
    if (!head || !meetsCondition(head, when, now)) return null;
    const { pk, incarnation, version, status, made } = head;
    const key = { pk, sk: headKey };
    const condition = conditionOf(testsOf(when, now));
    if (kind === "remove") {
      await deleteRows(this.#connection, pk, incarnation);
      await conditional(() => client.delete({ TableName: table, Key: key, ...condition }));
      return { now, version, status };
    }
    const fields = { incarnation: nonEmpty(incarnation), version, status, made, fence: head.fence, deletedAt: now };
    const Item = { ...key, ...fields, dueList: keys.dueList("deleted", id), dueSort: timeSortKey({ dueAt: now, isAtOnce: false }, made) };
    const put = { TableName: table, Item, ...condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
    const outcome = await conditional(() => client.put(put));
    // unless the answer to a first attempt was lost
    if ("stored" in outcome && headOf(this.#connection, outcome.stored)?.deletedAt !== now) return null;
    try {
      await deleteRows(this.#connection, pk, incarnation);
      // DynamoDB itself may delete a tombstone that has no rows
      const expiresAt = Math.ceil(idFreeAt(now, this.#retentionMs) / 1000);
      await updateItem(this.#connection, key, { set: { expiresAt }, when: [["deletedAt", "=", now]] });
    } catch {
      // the tombstone is there: the rest goes with it
    }
    return { now, version, status };
  }

  /** Place of a new execution in order of creation: time, count within the millisecond, and chance where two processes meet. */
  #nextPlace(now: EpochMs): string {
    this.#madeThen = now === this.#lastMadeAt ? this.#madeThen + 1 : 0;
    this.#lastMadeAt = now;
    return `${sortable(now)}.${sortable(this.#madeThen * 2 ** 32 + Math.floor(Math.random() * 2 ** 32))}`;
  }
}

/** A condition in DynamoDB's terms. */
function testsOf({ incarnation, version, fence, held, open, due, deleted = false }: RowCondition, now: EpochMs): Test[] {
  const tests: Test[] = [
    ["incarnation", "=", nonEmpty(incarnation)],
    ["deletedAt", deleted ? "exists" : "absent"],
  ];
  if (version !== undefined) tests.push(["version", "=", version]);
  if (fence !== undefined) tests.push(["fence", "=", fence]);
  if (held !== undefined) tests.push(["owner", held ? "exists" : "absent"]);
  if (open) tests.push(["endedAt", "absent"]);
  if (!due) return tests;
  const isDue: Test = ["dueAt", "<=", now];
  // what is due at once is due whatever the clock says
  return [...tests, held ? isDue : ["either", isDue, ["wakeAt", "<=", 0]]];
}

/** Labels as the index holds them. Null if they are too long: then the index leaves the execution in, and the list looks at its metadata. */
function tagsOf(labels: readonly string[]): Attribute | null {
  return labels.reduce((sum, label) => sum + bytesOf(label), 0) > maxMetadataInHead ? null : labels;
}
