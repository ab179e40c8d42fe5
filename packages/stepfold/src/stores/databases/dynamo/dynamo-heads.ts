import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isStatus, type Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../../kit/execution-rows.ts";
import type { Item } from "./dynamo-client.ts";
import { dynamoDamage } from "./dynamo-error.ts";
import { headKey, nonEmpty, timeInSortKey } from "./dynamo-keys.ts";
import { batchGet, type Connection, itemAt, type KnownHead } from "./dynamo-requests.ts";
import { isInParts } from "./long-text.ts";

/** The item with the head of an execution, or its tombstone. */
export interface Head extends ExecutionGuard, KnownHead {
  /** JSON of the head, or of the fields of the head that a list shows. */
  readonly listed: string;
  /** JSON, or a reference to its parts: see `storeText`. */
  readonly metadata: string;
  readonly definitionId: string;
  /** JSON of id and hash. */
  readonly definition: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly checkpointVersion: number | null;
  readonly runAt: EpochMs | null;
  /** The version at which the rows of children were last folded into one; null: never. See `fold` in `dynamo-history.ts`. */
  readonly foldedAt: number | null;
}

/** The layout of the items, which every head and tombstone names. */
export const itemLayout = 3;

/**
 * Reads the item of an execution, and remembers what later writes need of it.
 *
 * @throws StepfoldError `STORE_REJECTED` if the item is damaged or comes from an older version of Stepfold
 */
export function headOf(connection: Connection, item: Item): Head {
  const pk = String(item.pk);
  const id = connection.keys.workflowIdOf(pk);
  const text = (name: string): string => (typeof item[name] === "string" ? item[name] : "");
  const userText = (name: string): string | null => (typeof item[name] === "string" ? item[name].slice(1) : null);
  const numberOr = <T>(name: string, absent: T, numberIn: (stored: string) => number = Number): number | T => {
    const read = item[name] === undefined ? absent : numberIn(String(item[name]));
    // a number beyond those that JavaScript holds exactly cannot be compared or written back
    if (typeof read === "number" && !(Math.abs(read) <= Number.MAX_SAFE_INTEGER)) throw damagedExecution(id);
    return read;
  };
  const number = (name: string): number => numberOr(name, Number.NaN);
  if (numberOr("layout", 1) !== itemLayout)
    throw dynamoDamage("the table contains executions of an older version, which cannot be read: use another table or another prefix");
  const [incarnation, key, made] = [userText("incarnation"), userText("permitKey"), text("made")];
  // an incarnation that this store has not written could not be the condition of a write
  if (!isStatus(item.status) || incarnation === null || nonEmpty(incarnation) !== item.incarnation || made === "")
    throw damagedExecution(id);
  const { createdAt, seq } = cursorOf(made);
  const head: Head = {
    ...{ pk, id, made, seq, createdAt, incarnation, status: item.status as Status, owner: userText("owner") },
    ...{ version: number("version"), fence: number("fence"), crashes: numberOr("crashes", 0), updatedAt: numberOr("updatedAt", 0) },
    sizeBytes: numberOr("sizeBytes", 0),
    ...{ wakeAt: numberOr("wakeAt", null), dueAt: numberOr("dueAt", null) },
    exemptAt: numberOr("exemptSort", null, timeInSortKey),
    ...{ runSince: numberOr("runSince", null), runAt: numberOr("runSort", null), trimmed: numberOr("trimmed", 0) },
    ...{ checkpointVersion: numberOr("checkpointVersion", null), foldedAt: numberOr("foldedAt", null) },
    ...{ endedAt: numberOr("endedAt", null), deletedAt: numberOr("deletedAt", null) },
    ...{ head: text("head"), listed: text("listed") || text("head"), metadata: text("metadata") },
    ...{ definition: text("definition"), definitionId: userText("definitionId") ?? "" },
    permit: key === null ? null : { key, limit: number("permitLimit") },
  };
  noteHead(connection, head);
  return head;
}

/** Remembers the fields of a head that later writes need. */
export function noteHead({ known }: Connection, { pk, incarnation, made, permit, version, head }: KnownHead): void {
  known.set(pk, { pk, incarnation, made, permit, version, head: isInParts(head) ? head : "" });
  // the oldest entry is forgotten, so that memory stays bounded
  if (known.size > 10_000) known.delete(known.keys().next().value!);
}

/** Reads time and number from the sort key of an execution in the index of all executions. */
export function cursorOf(made: string): { readonly createdAt: EpochMs; readonly seq: number } {
  const [createdAt, seq] = made.split(".").map(Number);
  return { createdAt: createdAt!, seq: seq! };
}

/** Reads the present head of an execution, or its tombstone; null if there is neither. */
export async function readHead(connection: Connection, workflowId: string): Promise<Head | null> {
  const item = await itemAt(connection, { pk: connection.keys.execution(workflowId), sk: headKey });
  return item && headOf(connection, item);
}

/** Reads the present heads of partitions, in any order. Damaged ones are left out. */
export async function intactHeads(connection: Connection, partitions: Iterable<string>): Promise<Head[]> {
  const items = await batchGet(connection, partitions, headKey);
  return [...items.values()].flatMap((item) => {
    try {
      return headOf(connection, item);
    } catch (error) {
      if (!StepfoldError.is(error)) throw error;
      return [];
    }
  });
}

/** Makes the error for rows of an execution that were changed or lost. */
export function damagedExecution(workflowId: string): StepfoldError {
  return dynamoDamage(`the stored data of execution "${workflowId}" is damaged`);
}
