import { aFlag, aText, aTime, checkOptions } from "../../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import type { MongoDatabase } from "./mongo-client.ts";
import { mongoError } from "./mongo-error.ts";
import { MongoTable } from "./mongo-table.ts";

/** Options of a MongoDB store. */
export interface MongoStoreOptions extends RetentionOptions {
  /** The beginning of the names of the collections: letters, digits and underscores, at most 48. Default `stepfold_`. */
  readonly prefix?: string | undefined;
  /** True: the first call makes the indexes. Default false: call `migrateMongo(db)` once. */
  readonly migrate?: boolean | undefined;
}

/**
 * EXPERIMENTAL: a store in a MongoDB database (5.0 or later). It uses a `Db` of the package `mongodb` (6 or later); you open and close the
 * client. The store was not tested with a real server yet; see `docs/stores/mongo.md`.
 *
 * It needs no replica set and no transactions. A commit is a guarded update of one document, which contains the events and children of
 * this commit until the next commit copies them to a separate collection. Writes wait for a majority of the nodes and for their journals.
 * The server's clock judges leases and due times.
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
 * @throws StepfoldError `OPTION_INVALID` for an invalid prefix. Calls reject with `STORE_UNAVAILABLE` if no server answers or the write
 * concern is not met in time, for example, `STORE_REJECTED` for errors that stay, and `LIMIT_EXCEEDED` for more than 8 MB in one value,
 * 14 MB in one commit or 1 MB of metadata of a new execution
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function mongoStore(db: MongoDatabase, options: MongoStoreOptions = {}): SnapshotStore {
  checkOptions("mongoStore", options, { prefix: aText, migrate: aFlag, idempotencyRetentionMs: aTime });
  const { prefix = "stepfold_", migrate = false, idempotencyRetentionMs } = options;
  return storeOver(new MongoTable(db, prefix, migrate), { idempotencyRetentionMs, errorOf: mongoError });
}
