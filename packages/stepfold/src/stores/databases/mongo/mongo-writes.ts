import type { RowWrite, RowWritten } from "../../kit/execution-rows.ts";
import { meetsCondition } from "../../kit/row-rules.ts";
import { refuseLong } from "../../kit/writing/byte-limit.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { burial, changesOf, filterOf, guardFields, guardInDocument, insertionOf, noChange, trimOf } from "./mongo-documents.ts";
import { unlessDuplicate } from "./mongo-error.ts";
import { deleteEarlierEvents, deleteHistory, flushTail, keyOf, readingLocal } from "./mongo-history.ts";
import { type Collections, writeOptions } from "./mongo-schema.ts";

type WriteOf<K extends RowWrite["kind"]> = RowWrite & { readonly kind: K };

/** The most bytes of head, events and children in one commit. They are in one document, which has at most 16 MiB. */
const maxCommitBytes = 14_000_000;
/** The most bytes of metadata of an execution. The document holds them twice: also as labels. */
const maxMetadataBytes = 1_000_000;

/** Makes a write. Null if its condition does not hold. @throws StepfoldError `LIMIT_EXCEEDED` */
export async function writeDocument(collections: Collections, write: RowWrite, nextSeq: () => number): Promise<RowWritten | null> {
  if (write.kind === "insert" || write.kind === "update") refuseLarge(write);
  if (write.kind === "insert") return insert(collections, write, nextSeq());
  const { kind, id, when } = write;
  const filter = filterOf(id, when);
  if (kind === "trim") {
    // the mark of the run goes last: until then a trim that was interrupted is made again
    if ((await collections.executions.findOne(filter, readingLocal)) === null) return null;
    await deleteEarlierEvents(collections, keyOf(id, when.incarnation), write.when.runSince);
    return change(collections, filter, trimOf(write.when.runSince));
  }
  if (kind === "update") {
    if (write.history && !(await keepLast(collections, write))) return null;
    return change(collections, filter, changesOf(write.set, write.history));
  }
  const written = await change(collections, filter, kind === "bury" ? burial : noChange);
  // rows that remain after an interrupted deletion are deleted together with the tombstone
  if (written) await deleteHistory(collections, keyOf(id, when.incarnation));
  if (written && kind === "remove") await collections.executions.deleteMany(filter, writeOptions);
  return written;
}

async function insert(collections: Collections, { id, row, history }: WriteOf<"insert">, seq: number): Promise<RowWritten | null> {
  // the filter matches no document, so the upsert inserts one, or fails as a duplicate if the id exists
  const filter = { _id: String(id), incarnation: { $exists: false } };
  return unlessDuplicate(() => change(collections, filter, insertionOf(id, seq, row, history), true), null);
}

/** Copies the history of the last commit, which the next commit replaces. False if the condition of the next commit does not hold. */
async function keepLast(collections: Collections, { id, when }: WriteOf<"update">): Promise<boolean> {
  const projection = { ...guardFields, childrenAt: 1 };
  const stored = await collections.executions.findOne({ _id: String(id) }, { ...readingLocal, projection });
  if (!stored || !meetsCondition(guardInDocument(stored), when, 0)) return false;
  await flushTail(collections, id, stored.version as number, stored.childrenAt === stored.version);
  return true;
}

/** Updates a document and returns the server's time, and version and status afterwards. Null if no document matches. */
async function change(
  { executions }: Collections,
  filter: MongoDocument,
  update: MongoDocument[],
  upsert = false,
): Promise<RowWritten | null> {
  const projection = { _id: 0, now: "$writtenAt", version: 1, status: 1 };
  const options = { ...writeOptions, upsert, returnDocument: "after", includeResultMetadata: false, projection };
  return (await executions.findOneAndUpdate(filter, update, options)) as RowWritten | null;
}

function refuseLarge(write: WriteOf<"insert" | "update">): void {
  const { id, history } = write;
  if (!history) return;
  const { head = "", metadata = "" } = write.kind === "insert" ? write.row : { ...write.set.state, ...write.set };
  const texts = [...history.events, ...history.children].map(({ text }) => text ?? "");
  refuseLong(`A commit of execution "${id}"`, "mongodb commit in bytes", maxCommitBytes, [head, ...texts]);
  refuseLong(`The metadata of execution "${id}"`, "mongodb metadata in bytes", maxMetadataBytes, [metadata]);
}
