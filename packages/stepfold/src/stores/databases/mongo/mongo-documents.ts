import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { conditionTerms, type Term } from "../../kit/columns.ts";
import type { DueChange, ExecutionGuard, NewExecution, RowChanges, RowCondition, RowHistory } from "../../kit/execution-table.ts";
import { labelsIn } from "../../kit/lists/labels.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { keyOf, tailFields } from "./mongo-history.ts";
import { now } from "./mongo-schema.ts";

/** What of an execution's document guards its writes. A tombstone has only some of it. */
interface GuardDocument extends Omit<ExecutionGuard, "id" | "permit"> {
  readonly _id: string;
  /** `""` without a permit: then it is the first of all keys in the index. */
  readonly permitKey: string;
  readonly permitLimit: number;
}

const absent = {
  seq: 0,
  sizeBytes: 0,
  wakeAt: null,
  dueAt: null,
  owner: null,
  fence: 0,
  crashes: 0,
  permitKey: "",
  permitLimit: 0,
  deletedAt: null,
};

/** The fields of a guard, for a projection. */
export const guardFields: MongoDocument = { ...fields("incarnation", "version", "status"), ...fields(...Object.keys(absent)) };

/** The guard in a document. */
export function guardInDocument(document: MongoDocument): ExecutionGuard {
  const { _id: id, permitKey: key, permitLimit: limit, ...guard } = { ...absent, ...document } as unknown as GuardDocument;
  return { ...guard, id, permit: key === "" ? null : { key, limit } };
}

/** The document of an id, if a condition holds. */
export function filterOf(id: string, when: RowCondition): MongoDocument {
  return { _id: String(id), ...filterOfTerms(conditionTerms(when)), ...(when.due && { dueAt: { $gte: 0 }, $expr: isDueFor(0) }) };
}

/** Conditions on columns as a filter: a field is named as its column. Values of a program without types are values here, and no operators. */
export function filterOfTerms(terms: readonly Term[]): { $and: MongoDocument[] } {
  const operators = { "=": "$eq", "<": "$lt", ">": "$gt", ">=": "$gte", IN: "$in", NULL: "$eq", "NOT NULL": "$ne" };
  return {
    $and: terms.map((term) => {
      const value = "values" in term ? [...term.values] : "value" in term ? term.value : null;
      return { [fieldOf(term.column)]: { [operators[term.is]]: value } };
    }),
  };
}

/** The field of a column: `deleted_at` is `deletedAt`. */
function fieldOf(column: string): string {
  if (column === "id") return "_id";
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether what has a due time is due for so long, by the server's clock. */
export function isDueFor(overdueMs: number): MongoDocument {
  return { $lte: ["$dueAt", overdueMs === 0 ? now : { $subtract: [now, overdueMs] }] };
}

/** The update that makes a new document. */
export function insertionOf(id: string, seq: number, { permit, due, labels, ...row }: NewExecution, history: RowHistory): MongoDocument[] {
  const key = keyOf(id, row.incarnation);
  const fixed = { labels: labelsIn(labels), key, seq, crashes: 0, childrenAt: null };
  const plain = { ...row, ...fixed, permitKey: permit?.key ?? "", permitLimit: permit?.limit ?? 0 };
  const times = { createdAt: now, updatedAt: now, endedAt: isTerminal(row.status) ? now : null, dueAt: dueAtOf(due, row.wakeAt) };
  return updated({ ...plain, ...tailFields(row.version, history) }, times);
}

/** The update that makes changes. */
export function changesOf({ state, due, dueUnlessHeld, labels, ...columns }: RowChanges, history?: RowHistory): MongoDocument[] {
  const isFree = { $eq: ["$owner", null] };
  const listed = labels === undefined ? {} : { labels: labelsIn(labels) };
  const dueAt = due && dueAtOf(due, state ? state.wakeAt : "$wakeAt");
  return updated(
    { ...columns, ...listed, ...state, ...(history && state && tailFields(state.version, history)) },
    {
      ...(state && { updatedAt: now, endedAt: isTerminal(state.status) ? now : null }),
      ...(due && { dueAt: dueUnlessHeld ? { $cond: [isFree, dueAt, "$dueAt"] } : dueAt }),
    },
  );
}

/** The update that leaves a tombstone. */
export const burial: MongoDocument[] = [
  { $project: { incarnation: 1, version: 1, status: 1 } },
  { $set: { deletedAt: now, writtenAt: now } },
];

/** The update that changes nothing. */
export const noChange: MongoDocument[] = updated({}, {});

/** Changes some fields: `plain` to values, `computed` to what the server computes of those that were there. */
function updated(plain: MongoDocument, computed: MongoDocument): MongoDocument[] {
  return [{ $replaceWith: { $mergeObjects: ["$$ROOT", { $literal: plain }, { ...computed, writtenAt: now }] } }];
}

/** @param wakeAt of the execution after the change: a value or a field */
function dueAtOf(due: DueChange, wakeAt: EpochMs | null | "$wakeAt"): MongoDocument {
  if (due !== "atWakeUp") return { $add: [now, due.inMs] };
  // null is less than any number
  return { $cond: [{ $and: [{ $ne: [wakeAt, null] }, { $lte: [wakeAt, 0] }] }, { $min: ["$dueAt", now] }, wakeAt] };
}

function fields(...names: string[]): MongoDocument {
  return Object.fromEntries(names.map((name) => [name, 1]));
}
