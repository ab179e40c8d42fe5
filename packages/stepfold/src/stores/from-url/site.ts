import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** How a store from a URL is opened. */
export interface StoreOfUrlOptions {
  /** Make or update tables and indexes first. Default false: an SQLite file is always made, nothing else ever is. */
  readonly migrate?: boolean;
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number;
}

/** A database that a URL names, with a client of our own. Stores lie in it side by side, each in a space: a schema, a prefix, a file. */
export interface Site {
  /** Of the store: `postgres`. */
  readonly name: string;
  /** The space that the URL names. */
  readonly space: string;
  /** True if other spaces can lie beside it without touching it. */
  readonly hasSpaces: boolean;
  open(space: string, options: StoreOfUrlOptions): Promise<SnapshotStore>;
  /** Deletes a space with all that is in it. */
  drop(space: string): Promise<void>;
  /** The statements that `migrate` would run in a new space; null where there are none to be shown. */
  migrations(space: string): Promise<readonly string[] | null>;
  close(): Promise<void>;
}
