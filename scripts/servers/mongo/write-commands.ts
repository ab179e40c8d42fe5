import { type Document, ObjectId, serialize } from "bson";
import { Query } from "mingo";
import { applyUpdate, type UpdateStatement, upsertedDocument } from "./apply-update.ts";
import type { Collection } from "./collection.ts";
import type { CommandHandler } from "./command.ts";
import { asCommandError, CommandError } from "./command-error.ts";
import { maxDocumentBytes, sizeOf } from "./document.ts";

/** The commands that change documents. */
export const writeCommands: Readonly<Record<string, CommandHandler>> = {
  insert({ insert: name, documents, ordered, $db }, { catalog }) {
    const collection = catalog.open($db, name);
    let n = 0;
    const writeErrors = writeEach(documents as Document[], ordered, ({ _id = new ObjectId(), ...others }) => {
      const document = { _id, ...others };
      const bytes = sizeOf(document);
      if (bytes > maxDocumentBytes) {
        throw new CommandError(2, `object to insert too large. size in bytes: ${bytes}, max size: ${maxDocumentBytes}`);
      }
      collection.insert(document);
      n++;
    });
    return { n, ...writeErrors, ok: 1 };
  },

  update({ update: name, updates, ordered, $db }, { catalog }) {
    const collection = catalog.open($db, name);
    let n = 0;
    let nModified = 0;
    const upserted: Document[] = [];
    const writeErrors = writeEach(updates as Document[], ordered, ({ q, u, multi, upsert, arrayFilters }, index) => {
      const statement: UpdateStatement = { query: q, update: u, arrayFilters };
      if (multi && isReplacement(u)) throw new CommandError(9, "multi update is not supported for replacement-style update");
      const found = collection.find(q);
      for (const before of multi ? found : found.slice(0, 1)) {
        if (replace(collection, before, applyUpdate(before, statement))) nModified++;
        n++;
      }
      if (found.length > 0 || !upsert) return;
      const document = upsertedDocument(statement);
      collection.insert(document);
      upserted.push({ index, _id: document._id });
      n++;
    });
    return { n, nModified, ...(upserted.length > 0 && { upserted }), ...writeErrors, ok: 1 };
  },

  delete({ delete: name, deletes, ordered, $db }, { catalog }) {
    const collection = catalog.read($db, name);
    let n = 0;
    const writeErrors = writeEach(deletes as Document[], ordered, ({ q, limit }) => {
      const found = collection.find(q);
      for (const document of limit === 1 ? found.slice(0, 1) : found) {
        collection.remove(document);
        n++;
      }
    });
    return { n, ...writeErrors, ok: 1 };
  },

  findAndModify({ findAndModify: name, query = {}, sort, fields, remove, update, new: wantsNew, upsert, arrayFilters, $db }, { catalog }) {
    const collection = catalog.open($db, name);
    const before = firstOf(collection.find(query), sort);
    const answer = (value: Document | undefined, lastErrorObject: Document): Document => ({
      lastErrorObject,
      value: value ? project(value, fields) : null,
      ok: 1,
    });
    if (remove) {
      if (before) collection.remove(before);
      return answer(before, { n: before ? 1 : 0 });
    }
    const statement: UpdateStatement = { query, update, arrayFilters };
    if (before) {
      const after = applyUpdate(before, statement);
      replace(collection, before, after);
      return answer(wantsNew ? after : before, { n: 1, updatedExisting: true });
    }
    if (!upsert) return answer(undefined, { n: 0, updatedExisting: false });
    const document = upsertedDocument(statement);
    collection.insert(document);
    return answer(wantsNew ? document : undefined, { n: 1, updatedExisting: false, upserted: document._id });
  },
};

/** Executes each write. An ordered command stops at the first write that fails. */
function writeEach(writes: readonly Document[], ordered: unknown, write: (one: Document, index: number) => void): Document {
  const writeErrors: Document[] = [];
  for (const [index, one] of writes.entries()) {
    try {
      write(one, index);
    } catch (error) {
      writeErrors.push(asCommandError(error, 2).writeError(index));
      if (ordered !== false) break;
    }
  }
  return writeErrors.length > 0 ? { writeErrors } : {};
}

/** Replaces a document. Returns false if the update changes nothing. */
function replace(collection: Collection, before: Document, after: Document): boolean {
  if (sameBytes(before, after)) return false;
  collection.replace(before, after);
  return true;
}

function sameBytes(one: Document, other: Document): boolean {
  return Buffer.compare(serialize(one), serialize(other)) === 0;
}

function isReplacement(update: Document | readonly Document[]): boolean {
  return !Array.isArray(update) && !Object.keys(update).some((name) => name.startsWith("$"));
}

function firstOf(documents: readonly Document[], sort: Document | undefined): Document | undefined {
  if (!sort) return documents[0];
  return new Query({})
    .find<Document>([...documents])
    .sort(sort)
    .all()[0];
}

function project(document: Document, fields: Document | undefined): Document {
  if (!fields || Object.keys(fields).length === 0) return document;
  return new Query({}).find<Document>([document], fields).all()[0] ?? {};
}
