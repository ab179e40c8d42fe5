import type { CommandHandler } from "./command.ts";
import { CommandError } from "./command-error.ts";
import type { IndexSpec } from "./unique-index.ts";

/** The commands for collections, indexes and databases. */
export const catalogCommands: Readonly<Record<string, CommandHandler>> = {
  create({ create: name, $db }, { catalog }) {
    if (catalog.has($db, name)) throw new CommandError(48, `Collection ${$db}.${name} already exists.`);
    catalog.open($db, name);
    return { ok: 1 };
  },

  drop({ drop: name, $db }, { catalog }) {
    catalog.drop($db, name);
    return { ok: 1 };
  },

  dropDatabase({ $db }, { catalog }) {
    for (const name of catalog.names($db)) catalog.drop($db, name);
    return { dropped: $db, ok: 1 };
  },

  listCollections({ filter, $db }, { catalog, cursors }) {
    const names = catalog.names($db).filter((name) => typeof filter?.name !== "string" || filter.name === name);
    const found = names.map((name) => ({ name, type: "collection", options: {}, info: { readOnly: false } }));
    return cursors.open(`${$db}.$cmd.listCollections`, found, Number.POSITIVE_INFINITY);
  },

  listDatabases: (_command, { catalog }) => ({
    databases: catalog.databases.map((name) => ({ name, sizeOnDisk: 0, empty: false })),
    totalSize: 0,
    ok: 1,
  }),

  createIndexes({ createIndexes: name, indexes, $db }, { catalog }) {
    const createdCollectionAutomatically = !catalog.has($db, name);
    const collection = catalog.open($db, name);
    const numIndexesBefore = collection.indexes.length;
    for (const spec of indexes as IndexSpec[]) {
      if (!spec.name || Object.keys(spec.key).length === 0) throw new CommandError(67, "An index needs a name and a key");
      collection.createIndex({ v: 2, ...spec });
    }
    return { numIndexesBefore, numIndexesAfter: collection.indexes.length, createdCollectionAutomatically, ok: 1 };
  },

  dropIndexes({ dropIndexes: name, index, $db }, { catalog }) {
    const collection = catalog.existing($db, name);
    const nIndexesWas = collection.indexes.length;
    const all = collection.indexes.map((spec) => spec.name).filter((one) => one !== "_id_");
    for (const one of index === "*" ? all : [index].flat()) collection.dropIndex(one);
    return { nIndexesWas, ok: 1 };
  },

  listIndexes({ listIndexes: name, $db }, { catalog, cursors }) {
    const collection = catalog.existing($db, name);
    return cursors.open(collection.namespace, collection.indexes, Number.POSITIVE_INFINITY);
  },
};
