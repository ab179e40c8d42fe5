import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { aText, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import { refuseOption } from "../../kit/refuse-option.ts";
import type { MongoCollection, MongoDatabase, MongoDocument } from "./mongo-client.ts";
import { mongoError } from "./mongo-error.ts";

/** The collections of a store. */
export interface Collections {
  /** One document for each execution or tombstone. It contains the history of its last commit: see `mongo-history.ts`. */
  readonly executions: MongoCollection;
  /** Events and children, one document each. */
  readonly history: MongoCollection;
  /** Records: definitions, holders of permits and others; see `RecordKind`. */
  readonly records: MongoCollection;
}

/** Options of reads: only the primary has the latest writes. */
export const readOptions: MongoDocument = { readPreference: "primary" };

/** Options of writes: an acknowledged write survives the loss of a node and of power. */
export const writeOptions: MongoDocument = { writeConcern: { w: "majority", journal: true } };

/** The expression for the server's clock, in epoch milliseconds. */
export const now: MongoDocument = { $toDouble: "$$NOW" };

/** Returns the collections whose names begin with a prefix. @throws StepfoldError `OPTION_INVALID` */
export function collectionsOf(db: MongoDatabase, prefix: string): Collections {
  requireMethods("db", db, "a Db of mongodb, such as new MongoClient(url).db()", ["collection"]);
  refuseOption("prefix", !/^[A-Za-z0-9_]{0,48}$/.test(prefix), "must be letters, digits and underscores, at most 48");
  const [executions, history, records] = ["executions", "history", "records"].map((name) => db.collection(prefix + name));
  return { executions: executions!, history: history!, records: records! };
}

/** The layout of the documents, which every execution and tombstone names. */
export const documentLayout = 3;

/** A number below every time, `exemptAt` included, which may be negative. */
export const beforeAllTimes: number = Number.MIN_SAFE_INTEGER;

/** Refuses collections with executions of an older version. @throws StepfoldError `STORE_REJECTED` */
export async function refuseOlderLayout(db: MongoDatabase, prefix: string): Promise<void> {
  const any = await collectionsOf(db, prefix).executions.findOne({}, { ...readOptions, projection: { layout: 1 } });
  if (any === null || any.layout === documentLayout) return;
  const reason = `the collections "${prefix}…" have the layout of an older version, which cannot be read: use another prefix, or drop them`;
  throw new StepfoldError("STORE_REJECTED", { store: "mongodb", reason });
}

/**
 * Makes the indexes that do not exist yet. Any number of processes may do so at the same time.
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
 * @param options.prefix the beginning of the names of the collections; default `stepfold_`
 * @throws StepfoldError `STORE_UNAVAILABLE`, `STORE_REJECTED`, `OPTION_INVALID` for an invalid prefix
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export async function migrateMongo(db: MongoDatabase, options: { readonly prefix?: string } = {}): Promise<void> {
  checkOptions("migrateMongo", options, { prefix: aText });
  const { prefix = "stepfold_" } = options;
  const { executions, history } = collectionsOf(db, prefix);
  const whereNumber = (field: string, least = 0) => ({ partialFilterExpression: { [field]: { $gte: least } } });
  const newest = { createdAt: -1, seq: -1 } as const;
  try {
    await refuseOlderLayout(db, prefix);
    await Promise.all([
      // the limit is part of the index, so that a query for keys reads only the index
      executions.createIndex({ permitKey: 1, dueAt: 1, seq: 1, permitLimit: 1 }, { name: "due", ...whereNumber("dueAt") }),
      executions.createIndex(newest, { name: "created", ...whereNumber("createdAt") }),
      executions.createIndex({ status: 1, ...newest }, { name: "status", ...whereNumber("createdAt") }),
      executions.createIndex({ definitionId: 1, ...newest }, { name: "definition", ...whereNumber("createdAt") }),
      executions.createIndex({ labels: 1, ...newest }, { name: "labels", ...whereNumber("createdAt") }),
      executions.createIndex({ endedAt: 1, seq: 1 }, { name: "ended", ...whereNumber("endedAt") }),
      executions.createIndex({ deletedAt: 1 }, { name: "deleted", ...whereNumber("deletedAt") }),
      executions.createIndex({ exemptAt: 1, seq: 1 }, { name: "exempt", ...whereNumber("exemptAt", beforeAllTimes) }),
      executions.createIndex({ runAt: 1, seq: 1 }, { name: "run", ...whereNumber("runAt") }),
      history.createIndex({ place: 1 }, { name: "children", partialFilterExpression: { place: { $gte: "" } } }),
    ]);
  } catch (cause) {
    throw mongoError(cause);
  }
}
