import type { Document } from "bson";
import { Aggregator, Query } from "mingo";
import type { Command, CommandHandler, Storage } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { copyDocument, valueAt } from "./document.ts";

const defaultBatchSize = 101;

/** Commands that only read, and those of their cursors. */
export const readCommands: Readonly<Record<string, CommandHandler>> = {
  find(command, { catalog, cursors }) {
    const { find: name, filter = {}, projection = {}, sort, skip, limit, batchSize, singleBatch, $db } = command;
    const collection = catalog.read($db, name);
    // The collection finds by _id without looking at every document; mingo does the rest.
    let cursor = new Query({}).find<Document>(collection.find(filter), projection);
    if (sort) cursor = cursor.sort(sort);
    if (skip) cursor = cursor.skip(Number(skip));
    if (limit) cursor = cursor.limit(Math.abs(Number(limit)));
    return cursors.open(collection.namespace, cursor.all(), singleBatch ? Number.POSITIVE_INFINITY : Number(batchSize ?? defaultBatchSize));
  },

  aggregate(command, storage) {
    const { aggregate: name, pipeline, cursor, $db } = command;
    refuseStages(pipeline);
    // `{ aggregate: 1 }` is about the database and has no documents.
    const documents = name === 1 ? [] : storage.catalog.read($db, name).find({}).map(copyDocument);
    const collectionResolver = (other: string): Document[] => storage.catalog.read($db, other).find({}).map(copyDocument);
    const results = new Aggregator(pipeline, { collectionResolver }).run<Document>(documents);
    return storage.cursors.open(`${$db}.${name}`, results, Number(cursor?.batchSize ?? defaultBatchSize));
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

function refuseStages(pipeline: readonly Document[]): void {
  for (const stage of pipeline) {
    if ("$changeStream" in stage) throw new CommandError(40573, "The $changeStream stage is only supported on replica sets");
    if ("$out" in stage || "$merge" in stage) throw new CommandError(115, "This stand-in does not write from an aggregation");
  }
}
