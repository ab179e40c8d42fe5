import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { conditionTerms, type Term } from "../../kit/columns.ts";
import type { DueChange, ExecutionGuard, NewExecution, RowChanges, RowCondition, RowHistory } from "../../kit/execution-rows.ts";
import { labelsIn } from "../../kit/lists/labels.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { keyOf, tailFields } from "./mongo-history.ts";
import { documentLayout, now } from "./mongo-schema.ts";

/** The fields of an execution's document that guard its writes. A tombstone has only some of them. */
interface GuardDocument extends Omit<ExecutionGuard, "id" | "permit"> {
  readonly _id: string;
  /** `""`: no permit. It sorts before all keys in the index. */
  readonly permitKey: string;
  readonly permitLimit: number;
}

/** The values of fields that a document may lack: a tombstone has only `deletedAt` of them, and an execution has all but `deletedAt`. */
const absent = {
  seq: 0,
  sizeBytes: 0,
  wakeAt: null,
  dueAt: null,
  exemptAt: null,
  owner: null,
  fence: 0,
  crashes: 0,
  permitKey: "",
  permitLimit: 0,
  deletedAt: null,
  runSince: null,
  trimmed: 0,
};

/** The projection of the fields of a guard. */
export const guardFields: MongoDocument = { ...fields("incarnation", "version", "status"), ...fields(...Object.keys(absent)) };

/** Reads the guard in a document. */
export function guardInDocument(document: MongoDocument): ExecutionGuard {
  const { _id: id, permitKey: key, permitLimit: limit, ...guard } = { ...absent, ...document } as unknown as GuardDocument;
  return { ...guard, id, permit: key === "" ? null : { key, limit } };
}

/** The filter for the document of an id, if it meets a condition. */
export function filterOf(id: string, when: RowCondition): MongoDocument {
  return { _id: String(id), ...filterOfTerms(conditionTerms(when)), ...(when.due && { dueAt: { $gte: 0 }, $expr: isDueFor(0) }) };
}

/**
 * Writes conditions on columns as a filter. Every value stands behind an operator such as `$eq`, so an object that an untyped program
 * passes is compared as a value and never understood as operators.
 */
export function filterOfTerms(terms: readonly Term[]): { $and: MongoDocument[] } {
  const operators = { "=": "$eq", "<": "$lt", ">": "$gt", ">=": "$gte", IN: "$in", NULL: "$eq", "NOT NULL": "$ne" };
  return {
    $and: terms.map((term) => {
      const value = "values" in term ? [...term.values] : "value" in term ? term.value : null;
      return { [fieldOf(term.column)]: { [operators[term.is]]: value } };
    }),
  };
}

/** Returns the field of a column: `deletedAt` for `deleted_at`. */
function fieldOf(column: string): string {
  if (column === "id") return "_id";
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The expression that a document with a due time has been due for at least `overdueMs`, by the server's clock. */
export function isDueFor(overdueMs: number): MongoDocument {
  return { $lte: ["$dueAt", overdueMs === 0 ? now : { $subtract: [now, overdueMs] }] };
}

/** The update that fills a new document. */
export function insertionOf(id: string, seq: number, { permit, due, labels, ...row }: NewExecution, history: RowHistory): MongoDocument[] {
  const key = keyOf(id, row.incarnation);
  const fixed = { layout: documentLayout, labels: labelsIn(labels), key, seq, crashes: 0, childrenAt: null };
  const plain = { ...row, ...fixed, ...permitFields(permit) };
  const times = { createdAt: now, updatedAt: now, endedAt: isTerminal(row.status) ? now : null, dueAt: dueAtOf(due, row.wakeAt) };
  return updated({ ...plain, ...tailFields(row.version, history) }, times);
}

function permitFields(permit: Permit | null): MongoDocument {
  return { permitKey: permit?.key ?? "", permitLimit: permit?.limit ?? 0 };
}

/** The update that changes a document. */
export function changesOf({ state, permit, due, dueUnlessHeld, labels, ...columns }: RowChanges, history?: RowHistory): MongoDocument[] {
  const isFree = { $eq: ["$owner", null] };
  const listed = labels === undefined ? {} : { labels: labelsIn(labels) };
  const dueAt = due && dueAtOf(due, state ? state.wakeAt : "$wakeAt");
  const { run, ...written } = state ?? {};
  const begun = run && { runSince: run.since, runAt: run.at };
  return updated(
    {
      ...columns,
      ...listed,
      ...written,
      ...(permit !== undefined && permitFields(permit)),
      ...begun,
      ...(history && state && tailFields(state.version, history)),
    },
    {
      ...(state && { updatedAt: now, endedAt: isTerminal(state.status) ? now : null }),
      ...(due && { dueAt: dueUnlessHeld ? { $cond: [isFree, dueAt, "$dueAt"] } : dueAt }),
    },
  );
}

/** The update that turns a document into a tombstone. */
export const burial: MongoDocument[] = [
  { $project: { layout: 1, incarnation: 1, version: 1, status: 1 } },
  { $set: { deletedAt: now, writtenAt: now } },
];

/** The update after the events of earlier runs were deleted. */
export function trimOf(runSince: number): MongoDocument[] {
  return updated({ trimmed: runSince - 1, runSince: null, runAt: null }, {});
}

/** The update that changes nothing but `writtenAt`. */
export const noChange: MongoDocument[] = updated({}, {});

/** Makes an update: `plain` has new values, `computed` has expressions that the server evaluates with the present fields. */
function updated(plain: MongoDocument, computed: MongoDocument): MongoDocument[] {
  return [{ $replaceWith: { $mergeObjects: ["$$ROOT", { $literal: plain }, { ...computed, writtenAt: now }] } }];
}

/** The expression for `dueAt`. @param wakeAt the `wakeAt` after the change: a value, or the present field */
function dueAtOf(due: DueChange, wakeAt: EpochMs | null | "$wakeAt"): MongoDocument {
  if (due !== "atWakeUp") return { $add: [now, due.inMs] };
  // in comparisons null is less than any number, so it must be excluded
  return { $cond: [{ $and: [{ $ne: [wakeAt, null] }, { $lte: [wakeAt, 0] }] }, { $min: ["$dueAt", now] }, wakeAt] };
}

function fields(...names: string[]): MongoDocument {
  return Object.fromEntries(names.map((name) => [name, 1]));
}
