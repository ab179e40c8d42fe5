/** The folders of one database, or of several that share their sources. */
export interface DatabaseGroup {
  /** Folders below `stores/databases`, and what each has beside the files that all databases have. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
  /** The lines of code of all their sources together. Tests, comments and empty lines are not counted. */
  readonly maxLines: number;
}

/**
 * What a database's folder may have, after the name of the database: `redis-store.ts`. Each folder has a store and an `index.ts`;
 * the others are there where there is something to say.
 */
export const databaseFiles: readonly string[] = ["store", "table", "schema", "client", "error", "fast", "blobs", "views"];

/** Folders that hold what several databases share: they have no store, and no `index.ts`. */
export const sharedFolders: readonly string[] = ["sqlite-dialect"];

/** The lines of code of all databases together, counted in the same way. */
export const maxLinesOfAll = 5_713;

/** Every database, the names of its own files, and how long it may be. */
export const databaseGroups: readonly DatabaseGroup[] = [
  { folders: { memory: [] }, maxLines: 150 },
  {
    folders: {
      sqlite: [],
      libsql: ["libsql-session"],
      d1: [],
      "durable-object": ["object-alarm"],
      "sqlite-dialect": [
        "batch-session",
        "due-statements",
        "row-statements",
        "sqlite-blob-table",
        "sqlite-schema",
        "sqlite-table",
        "sqlite-views",
        "statement",
        "sync-session",
        "workerd",
      ],
    },
    maxLines: 800,
  },
  { folders: { mongo: ["mongo-documents", "mongo-history", "mongo-records", "mongo-writes"] }, maxLines: 400 },
  {
    folders: {
      dynamo: [
        "dynamo-heads",
        "dynamo-history",
        "dynamo-keys",
        "dynamo-list",
        "dynamo-records",
        "dynamo-requests",
        "dynamo-writes",
        "expression",
        "long-text",
      ],
    },
    maxLines: 700,
  },
  { folders: { mysql: ["mysql-records", "mysql-rows", "mysql-session", "mysql-statement", "mysql-write"] }, maxLines: 700 },
  { folders: { postgres: ["postgres-records", "postgres-session", "postgres-text", "row-statements"] }, maxLines: 700 },
  {
    folders: {
      redis: ["read-scripts", "redis-reply", "send-writes", "write-script"],
      upstash: [],
    },
    maxLines: 700,
  },
];
