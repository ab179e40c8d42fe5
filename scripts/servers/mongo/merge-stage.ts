import { type Document, ObjectId } from "bson";
import { applyPipeline } from "./apply-update.ts";
import type { Catalog } from "./catalog.ts";
import type { Collection } from "./collection.ts";
import { CommandError } from "./command-error.ts";
import { copyDocument, keyOf, maxDocumentBytes, sizeOf } from "./document.ts";

/** What happens to a result whose `_id` exists already, and to other results. */
interface Modes {
  /** A pipeline changes the existing document; in it `$$new` is the result. */
  readonly whenMatched: string | readonly Document[];
  readonly whenNotMatched: string;
}

/**
 * Returns a function that writes the results of a pipeline as `$merge` does. Like MongoDB, it makes one write per result: earlier
 * writes stay if another one fails, and only a failed insertion prevents the writes after it.
 *
 * It supports only the merge by `_id`, and no `let`.
 *
 * @throws CommandError 51181 for modes that exclude each other, 115 for unsupported options
 */
export function mergeStage(stage: string | Document, database: string, catalog: Catalog): (results: readonly Document[]) => void {
  const {
    into,
    on = "_id",
    whenMatched = "merge",
    whenNotMatched = "insert",
    ...others
  } = typeof stage === "string" ? { into: stage } : stage;
  if (keyOf([[on].flat()]) !== keyOf([["_id"]]) || Object.keys(others).length > 0) {
    throw new CommandError(115, "This stand-in merges by _id only, and without let");
  }
  refuseModes({ whenMatched, whenNotMatched });
  const { db = database, coll = into } = into as { db?: string; coll?: string };
  return (results) => {
    // The first write creates the collection.
    if (results.length === 0) return;
    const collection = catalog.open(db, coll as string);
    let failed: unknown;
    for (const result of results) {
      try {
        mergeOne(collection, result, { whenMatched, whenNotMatched });
      } catch (error) {
        failed ??= error;
        if (whenMatched === "fail") break;
      }
    }
    if (failed) throw failed;
  };
}

function refuseModes({ whenMatched, whenNotMatched }: Modes): void {
  const matched = typeof whenMatched === "string" ? whenMatched : "pipeline";
  const modes = ["replace", "merge", "pipeline"].includes(matched) ? ["insert", "discard", "fail"] : ["insert"];
  if (["replace", "merge", "keepExisting", "fail", "pipeline"].includes(matched) && modes.includes(whenNotMatched)) return;
  const what = `'whenMatched: ${matched}' and 'whenNotMatched: ${whenNotMatched}'`;
  throw new CommandError(51181, `Combination of $merge modes ${what} is not supported`);
}

function mergeOne(collection: Collection, result: Document, { whenMatched, whenNotMatched }: Modes): void {
  const { _id = new ObjectId(), ...fields } = copyDocument(result);
  const document = checked({ _id, ...fields });
  const found = whenMatched === "fail" ? undefined : collection.find(isSimple(_id) ? { _id } : { _id: { $eq: _id } })[0];
  if (found) {
    if (whenMatched === "replace") collection.replace(found, document);
    if (whenMatched === "merge") collection.replace(found, checked({ ...found, ...document }));
    if (typeof whenMatched !== "string") collection.replace(found, checked(applyPipeline(found, whenMatched, { new: document })));
    return;
  }
  if (whenNotMatched === "insert") collection.insert(document);
  if (whenNotMatched === "fail") throw new CommandError(13113, "$merge could not find a matching document in the target collection");
}

/** True for an id by which a collection finds a document without a scan. */
function isSimple(id: unknown): boolean {
  return typeof id === "string" || id instanceof ObjectId;
}

function checked(document: Document): Document {
  const bytes = sizeOf(document);
  if (bytes <= maxDocumentBytes) return document;
  throw new CommandError(10334, `BSONObj size: ${bytes} is invalid. Size must be between 0 and ${maxDocumentBytes}`);
}
