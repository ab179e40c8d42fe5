import { calculateObjectSize, type Document, deserialize, serialize } from "bson";

/** The largest document, as `hello` tells clients. */
export const maxDocumentBytes: number = 16 * 1024 * 1024;

/** What a server reads at all: it leaves room for a command around the largest document. */
export const maxMessageDocumentBytes: number = maxDocumentBytes + 16 * 1024;

/** BSON as JavaScript values. 64-bit integers become numbers, which mingo can compare. */
export function readDocument(bytes: Uint8Array): Document {
  return deserialize(bytes, { promoteBuffers: false });
}

/** A copy that shares nothing with the original, and has what storing would make of it. */
export function copyDocument(document: Document): Document {
  return readDocument(serialize(document));
}

export function sizeOf(document: Document): number {
  return calculateObjectSize(document);
}

/** The value at a dotted path; arrays are not searched. */
export function valueAt(document: Document, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Document | null | undefined)?.[name], document);
}

/** Equal values have equal keys. A missing value is null, as in MongoDB's indexes. */
export function keyOf(values: readonly unknown[]): string {
  return Buffer.from(serialize({ values: values.map((value) => value ?? null) })).toString("latin1");
}
