import type { EpochMs } from "../../core/values/json.ts";
import type { StoreFeatures } from "../../ports/snapshot-store.ts";
import type { TransactionQuery } from "../../ports/transaction-query.ts";
import type { ExecutionGuard, RowAnswer, RowWrite, StoredEvent } from "./execution-rows.ts";
import type { ListedRow, ListTable } from "./lists/list-table.ts";
import type { LockLimit } from "./lock-limit.ts";
import type { RecordTable } from "./record-table.ts";
import type { StoredRows } from "./restoring/restored-snapshot.ts";

/** Selects due executions. */
export interface DueQuery {
  /** The most executions; with `keys`, the most for each key. */
  readonly limit: number;
  /** Only executions that have been due for at least this many milliseconds. Negative: also those that become due within this time. */
  readonly overdueMs: number;
  /** Only executions with one of these keys in their permit. Null: only executions without a permit. */
  readonly keys: readonly string[] | null;
}

/** Which executions with a permit are due: none; some; or also some that may be due for a claim without it (see `exempt`). */
export type KeyedDue = "none" | "some" | "exempt";

/** The due executions of a query. */
export interface DueExecutions {
  readonly executions: readonly ExecutionGuard[];
  /** In the answer for executions without a permit: which executions with one are due. `exempt` if the table does not know. */
  readonly keyedDue: KeyedDue;
}

/** The executions that were claimed in one round trip, as they are afterwards. */
export interface DueClaimed extends DueExecutions {
  readonly now: EpochMs;
}

/** A key for which at least one execution is due. */
export interface DueKey {
  readonly key: string;
  /** The limit in the permit of the execution that has been due longest. */
  readonly limit: number;
}

/** A part of the keys for which an execution is due. */
export interface DueKeys {
  readonly keys: readonly DueKey[];
  /** The key after which the next part begins; null: there are no more keys. */
  readonly next: string | null;
}

/**
 * The part of a store that depends on the database: it reads and writes rows. The kit contains all rules and makes a `SnapshotStore` of a
 * table.
 *
 * A method may reject with any error: `errorOf` of the store says what it means. Times are epoch milliseconds.
 *
 * If the clock is not the database's own, the clock of another process may be wrong, or may be set back. Such a table keeps executions
 * that are due at once apart from those with a time, so that they are due whatever the clock says, and merges both by time.
 */
export interface ExecutionTable {
  readonly name: string;
  readonly features: StoreFeatures;
  /** Reads the guards of these ids, including tombstones, and the database's clock. Unknown ids are left out. */
  read(ids: readonly string[]): Promise<{ readonly now: EpochMs; readonly found: ReadonlyMap<string, ExecutionGuard> }>;
  /** Reads head, children and the events after the last checkpoint of these ids, each execution as it was at one moment. No tombstones. */
  load(ids: readonly string[]): Promise<ReadonlyMap<string, StoredRows>>;
  /** Reads the rows of these ids as a list shows them, but with the whole head. No tombstones. */
  heads(ids: readonly string[]): Promise<readonly ListedRow[]>;
  /** Makes writes on different ids, each independently. The answers are in the order of the writes. */
  write(writes: readonly RowWrite[]): Promise<readonly RowAnswer[]>;
  /** Reads events after a version, oldest first. None for a tombstone. */
  events(id: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Finds executions that are due and may be claimed, also those whose lease has ended; for each key sorted by `dueAt`, then `seq`. */
  due(query: DueQuery): Promise<DueExecutions>;
  /**
   * Finds keys for which an execution is due, after the key `after`, in the order of the database; `""` comes before all keys. The cost
   * must be bounded: the table must not read every execution that waits for one key, or that is not due.
   */
  dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys>;
  /**
   * Finds executions that are due and may be claimed without a permit: for at least `overdueMs`, both their `dueAt` and their `exemptAt`
   * have been reached. The earliest `exemptAt` comes first. The cost must not depend on executions with a later `exemptAt`, or with none.
   */
  exempt(limit: number, overdueMs: number): Promise<readonly ExecutionGuard[]>;
  /** Finds rows for lists, counts and deletions. */
  readonly lists: ListTable;
  /** The records that the store keeps in addition to executions. */
  readonly records: RecordTable;
  /**
   * Claims due executions without a permit in one round trip, the longest due first. A row that another transaction is writing is
   * left for a later claim. Returns each execution as it is afterwards, and the database's clock.
   *
   * @param claim.fenceStep the number that is added to each fence
   */
  claimDue?(claim: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly fenceStep: number;
    readonly limit: number;
    readonly overdueMs: number;
  }): Promise<DueClaimed>;
  /** Runs `work` in one transaction of the database. If `work` rejects, everything that it wrote is undone. */
  transact?<T>(work: (own: Pick<ExecutionTable, "write" | "read" | "events">, query: TransactionQuery) => Promise<T>): Promise<T>;
  /** How writes are sent in groups. Absent: each write is sent alone, at once. */
  readonly grouping?: {
    /** The most writes in one group. */
    readonly maxWrites: number;
    /** True if the database was unavailable, so that sending the writes of the failed group one by one would fail too. */
    isOutage(cause: unknown): boolean;
    /** True: writes issued in one turn of the event loop form a group. Default: only writes issued before the next microtask. */
    readonly perTurn?: boolean;
  };
  /** Set if the database waits for rows that other transactions have locked. It learns the leases, which limit this wait. */
  readonly lockLimit?: LockLimit;
  /** Closes what the store opened itself. Called once, when no call is in flight any more. */
  close?(): Promise<void>;
}
