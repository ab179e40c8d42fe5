import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Options of a store that is opened by its URL. */
export interface StoreOfUrlOptions {
  /** Make or update tables and indexes first. Default false. The tables of a local file (SQLite, libSQL) are made in any case. */
  readonly migrate?: boolean | undefined;
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number | undefined;
}

/** The database of a URL, with a client of its own. It can hold several stores, each in a space: a schema, a prefix, a table, a file. */
export interface Site {
  /** The name of the store, such as `postgres`. */
  readonly name: string;
  /** The space that the URL names, or the default space of the database. */
  readonly space: string;
  /** True if the database can hold other spaces too. */
  readonly hasSpaces: boolean;
  /** Opens the store in a space. `close()` of this store does not end the client of the site. */
  open(space: string, options: StoreOfUrlOptions): Promise<SnapshotStore>;
  /** Deletes a space with all that is in it. Does nothing for `memory:`, and for libSQL, which has no spaces. */
  drop(space: string): Promise<void>;
  /** Returns the statements that `migrate` would run in a new space; null for a database without statements. */
  migrations(space: string): Promise<readonly string[] | null>;
  /** Ends the client. */
  close(): Promise<void>;
}
