import type { Document } from "bson";
import { Query } from "mingo";
import type { Command, CommandHandler, Storage } from "./command.ts";
import { defaultBatchSize } from "./cursor-table.ts";
import { valueAt } from "./document.ts";

/** The commands that only read, and those of their cursors. */
export const readCommands: Readonly<Record<string, CommandHandler>> = {
  find(command, { catalog, cursors }) {
    const { find: name, filter = {}, projection = {}, sort, skip, limit, batchSize, singleBatch, $db } = command;
    const collection = catalog.read($db, name);
    // The collection finds a document by _id without a scan; mingo does the rest.
    let cursor = new Query({}).find<Document>(collection.find(filter), projection);
    if (sort) cursor = cursor.sort(sort);
    if (skip) cursor = cursor.skip(Number(skip));
    if (limit) cursor = cursor.limit(Math.abs(Number(limit)));
    return cursors.open(collection.namespace, cursor.all(), singleBatch ? Number.POSITIVE_INFINITY : Number(batchSize ?? defaultBatchSize));
  },

  count: (command, storage) => {
    const { skip = 0, limit = 0 } = command;
    const found = matching(command, storage, command.count).length - Number(skip);
    return { n: Math.max(0, limit ? Math.min(found, Math.abs(Number(limit))) : found), ok: 1 };
  },

  distinct: (command, storage) => {
    const found = matching(command, storage, command.distinct);
    const values = found.flatMap((document) => valueAt(document, command.key) ?? []);
    return { values: [...new Set(values)], ok: 1 };
  },

  getMore: ({ getMore: id, batchSize }, { cursors }) => cursors.next(Number(id), Number(batchSize ?? Number.POSITIVE_INFINITY)),

  killCursors({ cursors: ids }, { cursors }) {
    const killed = (ids as unknown[]).filter((id) => cursors.kill(Number(id)));
    const notFound = (ids as unknown[]).filter((id) => !killed.includes(id));
    return { cursorsKilled: killed, cursorsNotFound: notFound, cursorsAlive: [], cursorsUnknown: [], ok: 1 };
  },
};

function matching({ query = {}, $db }: Command, { catalog }: Storage, name: string): Document[] {
  return catalog.read($db, name).find(query);
}
