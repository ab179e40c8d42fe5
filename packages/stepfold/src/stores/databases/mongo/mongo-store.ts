import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { checkedStore } from "../../kit/checked-store.ts";
import { fairClaim } from "../../record/fair-claim.ts";
import { turnstile } from "../../record/turnstile.ts";
import { claimDue, releaseClaim, renewClaim } from "./claims.ts";
import { type Collections, collectionsOf, reading, writing } from "./collections.ts";
import { listExecutions } from "./list-executions.ts";
import type { MongoDatabase } from "./mongo-client.ts";
import { isDuplicate, mongoError } from "./mongo-error.ts";
import { migrateMongo } from "./mongo-schema.ts";
import { numberBlock } from "./number-block.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { eventsOf, loadSnapshot } from "./read-snapshot.ts";
import { workInOrder } from "./work-in-order.ts";
import { change, create, maxValueBytes } from "./write-commit.ts";

/** How a MongoDB store behaves. */
export interface MongoStoreOptions {
  /** What the names of the collections begin with: letters, digits and underscores, at most 48. Default `stepfold_`. */
  readonly prefix?: string;
  /** Whether the first call makes the indexes. Default false: `migrateMongo(db)` does it once. */
  readonly migrate?: boolean;
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number;
}

/**
 * EXPERIMENTAL: a store in a MongoDB database (5.0 or later), through a `Db` of the package `mongodb` (6 or later) whose
 * client stays yours. It has not met a real server yet; see `docs/stores/mongo.md`.
 *
 * It needs no replica set and no transactions. A commit is a guarded update of one document, which carries the events
 * and children that it wrote until the next commit has copied them to collections of their own. Writes wait for a
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
  const { prefix = "stepfold_", migrate = false, idempotencyRetentionMs: retentionMs = 30 * 24 * 60 * 60 * 1000 } = options;
  const collections = collectionsOf(db, prefix);
  const seq = numberBlock(collections);
  const work = workInOrder();
  const walk = { at: "", isOwed: false, turnstile: turnstile() };
  let ready: Promise<void> | null = migrate ? null : Promise.resolve();
  const run = <T>(id: string | null, task: () => Promise<T>): Promise<T> =>
    work.add(id, async () => {
      ready ??= migrateMongo(db, { prefix });
      await ready.catch((cause) => {
        ready = null;
        throw cause;
      });
      return task();
    });
  return checkedStore(
    {
      name: "mongodb",
      features: { clock: "store", durable: true, multiProcess: true, maxValueBytes, permits: true },
      create: async (commit, { claim } = {}) => run(commit.workflowId, create(collections, commit, claim, seq, retentionMs)),
      commit: async (commit) => run(commit.workflowId, change(collections, commit)),
      claim: fairClaim((wanted) => run(null, () => claimDue(collections, walk, wanted))),
      renew: (claim) => run(null, () => renewClaim(collections, claim)),
      release: (claim, version) => run(claim.workflowId, () => releaseClaim(collections, claim, version)),
      now: () => run(null, () => serverNow(db)),
      load: (workflowId) => run(null, () => loadSnapshot(collections, workflowId)),
      events: (workflowId, afterVersion, limit) => run(null, () => eventsOf(collections, workflowId, afterVersion, limit)),
      list: (query) => run(null, () => listExecutions(collections, query)),
      delete: (workflowId) => run(workflowId, () => deleteExecution(collections, workflowId)),
      prune: (wanted) => run(null, () => pruneExecutions(collections, wanted, retentionMs)),
      putDefinition: (hash, definition) => run(null, () => putDefinition(collections, hash, definition)),
      getDefinition: (hash) => run(null, () => definitionOf(collections, hash)),
      close: () => work.idle(),
    },
    mongoError,
  );
}

/** What `$$NOW` is in a statement, asked for alone. */
async function serverNow(db: MongoDatabase): Promise<EpochMs> {
  const { localTime } = await db.command({ hello: 1 });
  return (localTime as Date).getTime();
}

async function putDefinition({ definitions }: Collections, hash: string, definition: WorkflowDefinition): Promise<void> {
  const update = { $setOnInsert: { definition: JSON.stringify(definition) } };
  try {
    await definitions.updateOne({ _id: String(hash) }, update, { ...writing, upsert: true });
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
  }
}

async function definitionOf({ definitions }: Collections, hash: string): Promise<WorkflowDefinition | null> {
  const row = await definitions.findOne({ _id: String(hash) }, reading);
  return row ? (JSON.parse(row.definition as string) as WorkflowDefinition) : null;
}
