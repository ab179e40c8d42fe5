import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import type { MongoDatabase } from "./mongo-client.ts";
import { mongoError } from "./mongo-error.ts";
import { MongoTable } from "./mongo-table.ts";

/** How a MongoDB store behaves. */
export interface MongoStoreOptions extends RetentionOptions {
  /** What the names of the collections begin with: letters, digits and underscores, at most 48. Default `stepfold_`. */
  readonly prefix?: string;
  /** Whether the first call makes the indexes. Default false: `migrateMongo(db)` does it once. */
  readonly migrate?: boolean;
}

/**
 * EXPERIMENTAL: a store in a MongoDB database (5.0 or later), through a `Db` of the package `mongodb` (6 or later) whose
 * client stays yours. It has not met a real server yet; see `docs/stores/mongo.md`.
 *
 * It needs no replica set and no transactions. A commit is a guarded update of one document, which carries the events
 * and children that it wrote until the next commit has copied them to a collection of their own. Writes wait for a
 * majority of the nodes and for their journals. Leases and due times are judged by the server's clock.
 *
 * ```ts
 * import { MongoClient } from "mongodb";
 * import { mongoStore } from "stepfold/stores/mongo";
 *
 * const client = await MongoClient.connect(process.env.MONGODB_URL ?? "mongodb://127.0.0.1");
 * const store = mongoStore(client.db("workflows"), { migrate: true });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await client.close();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID` for a prefix that is none. Calls reject with `STORE_UNAVAILABLE` if no server
 * answers or the write concern is not met in time, `STORE_REJECTED` for whatever else the server refuses, and
 * `LIMIT_EXCEEDED` for more than 8 MB in one value, 14 MB in one commit or 1 MB of metadata
 */
export function mongoStore(db: MongoDatabase, options: MongoStoreOptions = {}): SnapshotStore {
  const { prefix = "stepfold_", migrate = false, idempotencyRetentionMs } = options;
  return storeOver(new MongoTable(db, prefix, migrate), { idempotencyRetentionMs, errorOf: mongoError });
}
