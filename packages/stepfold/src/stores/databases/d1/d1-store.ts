import { aFlag, aFunction, aTime, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { type BatchStatement, batchSession, databaseClock } from "../sqlite-dialect/batch-session.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import { workerdLimits } from "../sqlite-dialect/workerd.ts";
import type { D1Client, D1Rows, D1Statement } from "./d1-client.ts";
import { checkLayout, d1Error, migrateD1 } from "./d1-schema.ts";

/** How a D1 store behaves. */
export interface D1StoreOptions extends RetentionOptions {
  /** Whether the first call creates the tables. Default false: `migrateD1(env.DB)`, or a migration of wrangler, does it once. */
  readonly migrate?: boolean | undefined;
  /** The clock that judges leases and due times, in epoch milliseconds. Default: the database's, because it is another machine. */
  readonly now?: (() => EpochMs) | undefined;
}

/**
 * A store in a Cloudflare D1 database, through the binding of a worker. Any number of workers may share it.
 *
 * In D1, no transaction can wait for an answer in between: a commit is one batch, which is one transaction and one round trip. Each
 * statement of the batch finds out by itself whether the commit is allowed. Commits that are issued together share a batch.
 *
 * ```typescript
 * import { d1Store } from "stepfold/stores/d1";
 *
 * const store = d1Store(env.DB);
 * const snapshot = await store.load("order-7"); // null if there is none
 * ```
 *
 * Open the store in the request that uses it, which costs nothing: a request must not wait for work that another request has begun.
 * One part of a commit (its head, one event, one child) may have at most 1,900,000 bytes, because D1 allows 2 MB in a row; a larger
 * part is refused with `LIMIT_EXCEEDED`. `close()` does not change the binding.
 *
 * Calls reject with `STORE_UNAVAILABLE` if D1 does not answer, was reset or is overloaded, and with `STORE_REJECTED` if the tables are
 * missing or were made by another version.
 *
 * @throws StepfoldError `OPTION_UNKNOWN` for an option that does not exist
 */
export function d1Store(database: D1Client, options: D1StoreOptions = {}): SnapshotStore {
  checkOptions("d1Store", options, { migrate: aFlag, now: aFunction, idempotencyRetentionMs: aTime });
  requireMethods("database", database, "a D1 database, such as env.DB", ["prepare", "batch"]);
  const { migrate = false, now = () => null, idempotencyRetentionMs } = options;
  const bound = ({ sql, args }: BatchStatement): D1Statement => database.prepare(sql).bind(...args);
  const send = async (statements: BatchStatement[], mode: "read" | "write"): Promise<D1Rows["results"][]> => {
    const isAlone = mode === "read" && statements.length === 1;
    const answers = isAlone ? [await bound(statements[0]!).all()] : await database.batch(statements.map(bound));
    return answers.map(({ results }) => results);
  };
  const ready = onceReady(() => (migrate ? migrateD1(database) : checkLayout(database)));
  const table = new SqliteTable(batchSession({ ready, send, now }), {
    name: "d1",
    features: { clock: "store", durable: true, multiProcess: true, maxValueBytes: workerdLimits.maxValueBytes, permits: true },
    maxIds: workerdLimits.maxIds,
    now: databaseClock,
    grouping: { maxWrites: 16, isOutage: (cause) => d1Error(cause).code === "STORE_UNAVAILABLE" },
  });
  return storeOver(table, { idempotencyRetentionMs, errorOf: d1Error });
}
