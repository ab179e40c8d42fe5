/** The folders of one database, or of several databases that share sources. */
export interface DatabaseGroup {
  /** Folders below `stores/databases`, each with the names of its files beyond those that every database may have. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
  /** The lines of code of all their sources together. Tests, comments and empty lines are not counted. */
  readonly maxLines: number;
}

/**
 * The names of the files that a database's folder may have, after the name of the database, such as `redis-store.ts`. Each folder has a
 * store and an `index.ts`; the other files are optional.
 */
export const databaseFiles: readonly string[] = ["store", "table", "schema", "client", "error", "fast", "blobs", "views"];

/** Folders of code that several databases share. They have no store and no `index.ts`. */
export const sharedFolders: readonly string[] = ["sqlite-dialect"];

/** The lines of code of all databases together, counted in the same way. */
export const maxLinesOfAll = 6_440;

/** Every database with the names of its own files, and the largest number of lines of code. */
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
  { folders: { postgres: ["postgres-history", "postgres-records", "postgres-session", "postgres-text", "row-statements"] }, maxLines: 700 },
  {
    folders: {
      redis: ["read-scripts", "redis-reply", "send-writes", "write-script"],
      upstash: [],
    },
    maxLines: 700,
  },
];
