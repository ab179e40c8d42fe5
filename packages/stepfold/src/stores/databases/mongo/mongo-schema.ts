import { collectionsOf } from "./collections.ts";
import type { MongoDatabase } from "./mongo-client.ts";
import { mongoError } from "./mongo-error.ts";

/**
 * Makes the indexes, if they are not there. Any number of processes may do so at once.
 *
 * ```ts
 * import { MongoClient } from "mongodb";
 * import { migrateMongo } from "stepfold/stores/mongo";
 *
 * const client = await MongoClient.connect(process.env.MONGODB_URL ?? "mongodb://127.0.0.1");
 * await migrateMongo(client.db("workflows"));
 * await client.close();
 * ```
 *
 * @param options.prefix what the names of the collections begin with; default `stepfold_`
 * @throws StepfoldError `STORE_UNAVAILABLE`, `STORE_REJECTED`, `OPTION_INVALID` for a prefix that is none
 */
export async function migrateMongo(db: MongoDatabase, options: { readonly prefix?: string } = {}): Promise<void> {
  const { executions, children, permits } = collectionsOf(db, options.prefix ?? "stepfold_");
  const whereNumber = (field: string) => ({ partialFilterExpression: { [field]: { $gte: 0 } } });
  try {
    await Promise.all([
      executions.createIndex({ dueAt: 1, createdAt: 1, seq: 1 }, { name: "due", ...whereNumber("dueAt") }),
      executions.createIndex({ createdAt: -1, seq: -1 }, { name: "created", ...whereNumber("createdAt") }),
      executions.createIndex({ status: 1, createdAt: -1, seq: -1 }, { name: "status", ...whereNumber("createdAt") }),
      executions.createIndex({ definitionId: 1, createdAt: -1, seq: -1 }, { name: "definition", ...whereNumber("createdAt") }),
      executions.createIndex({ meta: 1, createdAt: -1, seq: -1 }, { name: "metadata", ...whereNumber("createdAt") }),
      executions.createIndex({ endedAt: 1, seq: 1 }, { name: "ended", ...whereNumber("endedAt") }),
      executions.createIndex({ deletedAt: 1 }, { name: "deleted", ...whereNumber("deletedAt") }),
      // the limit is in it so that nothing but the index is read
      executions.createIndex({ permitKey: 1, turnAt: 1, createdAt: 1, seq: 1, permitLimit: 1 }, { name: "turn", ...whereNumber("turnAt") }),
      permits.createIndex({ forgetAt: 1 }, { name: "forget" }),
      children.createIndex({ execution: 1, place: 1 }, { name: "order", ...whereNumber("place") }),
    ]);
  } catch (cause) {
    throw mongoError(cause);
  }
}
