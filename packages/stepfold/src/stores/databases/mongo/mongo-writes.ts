import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RowWrite, RowWritten } from "../../kit/execution-table.ts";
import { meetsCondition } from "../../kit/row-rules.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { burial, changesOf, filterOf, guardFields, guardInDocument, insertionOf, noChange } from "./mongo-documents.ts";
import { isDuplicate } from "./mongo-error.ts";
import { deleteHistory, flushTail, keyOf, readingLocal } from "./mongo-history.ts";
import { type Collections, returning, writeOptions } from "./mongo-schema.ts";

/** Of all that a commit writes, and of the metadata, which its document holds twice: a document has at most 16 MiB. */
const maxCommitBytes = 14_000_000;
const maxMetadataBytes = 1_000_000;

/** Makes a write. Null if its condition does not hold. @throws StepfoldError `LIMIT_EXCEEDED` */
export async function writeRow(collections: Collections, write: RowWrite, nextSeq: () => number): Promise<RowWritten | null> {
  refuseLarge(write);
  if (write.kind === "insert") return insert(collections, write, nextSeq());
  const { kind, id, when } = write;
  const filter = filterOf(id, when);
  if (kind === "update") {
    const { set, history } = write;
    return history && !(await keepLast(collections, write)) ? null : change(collections, filter, changesOf(set, history));
  }
  const written = await change(collections, filter, kind === "bury" ? burial : noChange);
  // a tombstone does not change any more: what is left of one whose deletion was broken off is deleted with it
  if (written) await deleteHistory(collections, keyOf(id, when.incarnation));
  if (written && kind === "remove") await collections.executions.deleteMany(filter, writeOptions);
  return written;
}

async function insert(
  collections: Collections,
  { id, row, history }: RowWrite & { kind: "insert" },
  seq: number,
): Promise<RowWritten | null> {
  // no document matches: one is inserted, unless there is one with this id
  const filter = { _id: String(id), incarnation: { $exists: false } };
  try {
    return await change(collections, filter, insertionOf(id, seq, row, history), { upsert: true });
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    return null;
  }
}

/** Copies what the last commit wrote, which the next one replaces. False if the next one would be refused as things stand. */
async function keepLast(collections: Collections, { id, when }: RowWrite & { kind: "update" }): Promise<boolean> {
  const projection = { ...guardFields, childrenAt: 1 };
  const stored = await collections.executions.findOne({ _id: String(id) }, { ...readingLocal, projection });
  if (!stored || !meetsCondition(guardInDocument(stored), when, 0)) return false;
  await flushTail(collections, id, stored.version as number, stored.childrenAt === stored.version);
  return true;
}

async function change(
  { executions }: Collections,
  filter: MongoDocument,
  update: MongoDocument[],
  options: MongoDocument = {},
): Promise<RowWritten | null> {
  const projection = { _id: 0, now: "$writtenAt", version: 1, status: 1 };
  const written = await executions.findOneAndUpdate(filter, update, { ...returning, ...options, projection });
  return written as RowWritten | null;
}

function refuseLarge(write: RowWrite): void {
  if (write.kind !== "insert" && !(write.kind === "update" && write.history)) return;
  const { id, history } = write;
  const head = write.kind === "insert" ? write.row.head : (write.set.state?.head ?? "");
  const texts = [...history!.events, ...history!.children].map(({ text }) => text ?? "");
  refuseTexts(`A commit of execution "${id}"`, "mongodb commit in bytes", maxCommitBytes, [head, ...texts]);
  if (write.kind !== "insert") return;
  refuseTexts(`The metadata of execution "${id}"`, "mongodb metadata in bytes", maxMetadataBytes, [write.row.metadata]);
}

function refuseTexts(what: string, limit: string, max: number, texts: readonly string[]): void {
  // no character takes more than three bytes for each of its code units
  if (texts.reduce((sum, { length }) => sum + length * 3, 0) <= max) return;
  const actual = texts.reduce((sum, text) => sum + bytesOf(text), 0);
  if (actual > max) throw new StepfoldError("LIMIT_EXCEEDED", { what, limit, max, actual });
}
