import { calculateObjectSize, type Document, deserialize, serialize } from "bson";

/** The size of the largest document, as `hello` reports it to clients. */
export const maxDocumentBytes: number = 16 * 1024 * 1024;

/** The size of the largest document in a message. It leaves room for a command around the largest stored document. */
export const maxMessageDocumentBytes: number = maxDocumentBytes + 16 * 1024;

/** Reads BSON into JavaScript values. 64-bit integers become numbers, which mingo can compare. */
export function readDocument(bytes: Uint8Array): Document {
  return deserialize(bytes, { promoteBuffers: false });
}

/** Returns a copy that shares nothing with the original, with the same changes to values that storing makes. */
export function copyDocument(document: Document): Document {
  return readDocument(serialize(document));
}

export function sizeOf(document: Document): number {
  return calculateObjectSize(document);
}

/** Returns the value at a dotted path. Arrays are not searched. */
export function valueAt(document: Document, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Document | null | undefined)?.[name], document);
}

/** Returns a key that is the same for equal values. A missing value counts as null, as in MongoDB's indexes. */
export function keyOf(values: readonly unknown[]): string {
  return Buffer.from(serialize({ values: values.map((value) => value ?? null) })).toString("latin1");
}
