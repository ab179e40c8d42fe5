import { type Document, Long } from "bson";
import { CommandError } from "./command-error.ts";
import { maxDocumentBytes, sizeOf } from "./document.ts";

/** The number of documents in the first batch if the client does not specify one. */
export const defaultBatchSize = 101;

/** Results that a client fetches in batches. They are the documents found when the cursor was opened. */
export class CursorTable {
  readonly #cursors = new Map<number, { readonly namespace: string; readonly rest: Document[] }>();
  #lastId = 0;

  open(namespace: string, documents: readonly Document[], batchSize: number): Document {
    return this.#answer(++this.#lastId, namespace, [...documents], batchSize, "firstBatch");
  }

  /**
   * Returns the next batch.
   * @throws CommandError 43
   */
  next(id: number, batchSize: number): Document {
    const cursor = this.#cursors.get(id);
    if (!cursor) throw new CommandError(43, `cursor id ${id} not found`);
    return this.#answer(id, cursor.namespace, cursor.rest, batchSize, "nextBatch");
  }

  /** Closes a cursor. Returns true if it was open. */
  kill(id: number): boolean {
    return this.#cursors.delete(id);
  }

  #answer(id: number, namespace: string, rest: Document[], batchSize: number, field: "firstBatch" | "nextBatch"): Document {
    const batch = takeBatch(rest, batchSize);
    if (rest.length > 0) this.#cursors.set(id, { namespace, rest });
    else this.#cursors.delete(id);
    return { cursor: { [field]: batch, id: Long.fromNumber(rest.length > 0 ? id : 0), ns: namespace }, ok: 1 };
  }
}

/** Removes the documents of one batch from the front: at least one document, then as many as the largest size of a document allows. */
function takeBatch(documents: Document[], batchSize: number): Document[] {
  let bytes = 0;
  let count = 0;
  for (const document of documents) {
    bytes += sizeOf(document);
    if (count >= batchSize || (count > 0 && bytes > maxDocumentBytes)) break;
    count++;
  }
  return documents.splice(0, count);
}
