import { aFunction, aTime, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { hasTables, layoutByName, sqliteSchemaByName } from "../sqlite-dialect/sqlite-schema.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import type { SqlRow, SqlValue } from "../sqlite-dialect/statement.ts";
import { type SyncDatabase, syncSession } from "../sqlite-dialect/sync-session.ts";
import { workerdError, workerdLimits } from "../sqlite-dialect/workerd.ts";
import type { ObjectStorage, Sweeper } from "./durable-object-client.ts";
import { ObjectAlarm } from "./object-alarm.ts";

/** How a store in a Durable Object behaves. */
export interface DurableObjectStoreOptions extends RetentionOptions {
  /**
   * Sets the alarm of the object. It is called by `alarm()`, and in the transaction of a write after which the present alarm may come too
   * late for an execution. An object has only one alarm: pass a function of your own if you need the alarm for something else too. Default
   * `ctx.storage.setAlarm(at)`.
   */
  readonly setAlarm?: ((at: EpochMs) => void) | undefined;
  /** The clock that judges leases and due times, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
}

/** A store in a Durable Object. */
export interface DurableObjectStore extends SnapshotStore {
  /**
   * Runs due executions in one time slice, and sets the alarm to the next time at which an execution is due; if one is still due, to now or
   * to a later try. Call it in the object's `alarm()`.
   *
   * @param runtime the runtime on this store, with `drive: false`
   * @param options the options of `runtime.sweep`: how long it may take, how many executions it takes
   * @throws the error of `runtime.sweep`; the alarm is set even then
   */
  alarm<Options>(runtime: Sweeper<Options>, options?: Options): Promise<void>;
}

/**
 * A store in the SQLite of a Durable Object, for any number of executions. The object wakes by itself: each write that makes an execution
 * due sooner sets the object's alarm to that time, in the same transaction. This function creates the tables if they do not exist.
 *
 * ```typescript
 * import { DurableObject } from "cloudflare:workers";
 * import { createRuntime } from "stepfold/runtime";
 * import { durableObjectStore } from "stepfold/stores/durable-object";
 *
 * export class Workflows extends DurableObject {
 *   readonly store = durableObjectStore(this.ctx.storage);
 *   readonly runtime = createRuntime({ store: this.store, workflows, nodeDefinitions, drive: false });
 *
 *   override alarm() {
 *     return this.store.alarm(this.runtime);
 *   }
 * }
 * ```
 *
 * The store needs a class with SQLite (`new_sqlite_classes`). One part of a commit (its head, one event, one child) may have at most
 * 1,900,000 bytes, because an object allows 2 MB in a row; a larger part is refused with `LIMIT_EXCEEDED`. Cloudflare makes sure that no
 * output leaves the object before the writes are safe. `close()` does not change the storage.
 *
 * @throws StepfoldError `STORE_REJECTED` if another version of Stepfold made the tables, or the class has no SQLite
 * @throws StepfoldError `OPTION_UNKNOWN` for an option that does not exist
 */
export function durableObjectStore(storage: ObjectStorage, options: DurableObjectStoreOptions = {}): DurableObjectStore {
  checkOptions("durableObjectStore", options, { setAlarm: aFunction, now: aFunction, idempotencyRetentionMs: aTime });
  const { now = Date.now, idempotencyRetentionMs, setAlarm = (at: EpochMs) => void storage.setAlarm(at) } = options;
  const db = openObject(storage, () => alarm);
  const alarm = new ObjectAlarm(db, now, setAlarm);
  const table = new SqliteTable(syncSession(db, now), {
    name: "durable-object",
    // only one process at a time runs the object
    features: { clock: "store", durable: true, multiProcess: false, maxValueBytes: workerdLimits.maxValueBytes, permits: true },
    maxIds: workerdLimits.maxIds,
    now: "?1",
    grouping: { maxWrites: 64, isOutage: () => false },
  });
  const store = storeOver(table, { idempotencyRetentionMs, errorOf });
  return { ...store, alarm: (runtime, sweepOptions) => alarm.onAlarm(runtime, sweepOptions) };
}

/** Opens the object's database, and creates its tables. @param alarm returns the alarm, which is told of each transaction that writes */
function openObject(storage: ObjectStorage, alarm: () => Pick<ObjectAlarm, "afterWrite" | "afterRollback">): SyncDatabase {
  const all = (text: string, ...values: readonly SqlValue[]): readonly SqlRow[] => storage.sql.exec(text, ...values).toArray();
  requireMethods("storage", storage, "ctx.storage of a Durable Object that has SQLite", ["transactionSync"]);
  try {
    storage.transactionSync(() => {
      if (!hasTables("durable-object", "storage", all(layoutByName)[0])) for (const text of sqliteSchemaByName) all(text);
    });
  } catch (cause) {
    throw errorOf(cause);
  }
  return {
    all: (text, first, others) => all(text, first, ...others),
    run: (text, first, others) => storage.sql.exec(text, first, ...others).rowsWritten,
    transaction(mode, work) {
      try {
        return storage.transactionSync(() => {
          const result = work();
          if (mode === "write") alarm().afterWrite();
          return result;
        });
      } catch (cause) {
        if (mode === "write") alarm().afterRollback();
        throw cause;
      }
    },
    close: () => undefined,
  };
}

const errorOf = (cause: unknown) => workerdError("durable-object", cause, "the storage was emptied: open the store again");
