import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Permit } from "../../core/values/shared-keys.ts";
import type { SeriesQuery } from "../../ports/execution-counts.ts";
import type { StoreFeatures } from "../../ports/snapshot-store.ts";
import type { TransactionQuery } from "../../ports/transaction-query.ts";
import type { CheckedQuery } from "./lists/checked-query.ts";
import type { LockLimit } from "./lock-limit.ts";
import type { RecordTable } from "./record-table.ts";
import type { StoredRows } from "./restoring/restored-snapshot.ts";
import type { WrittenChild, WrittenEvent } from "./writing/written-commit.ts";

/** The columns of an execution that guard its writes, and that say which process may drive it and when. */
export interface ExecutionGuard {
  readonly id: string;
  /** A number that rises with every created execution. */
  readonly seq: number;
  readonly incarnation: string;
  readonly version: number;
  /** The size of the snapshot in bytes of JSON. */
  readonly sizeBytes: number;
  readonly status: Status;
  /** `wakeAt` of the last commit: 0 for now, null for never. */
  readonly wakeAt: EpochMs | null;
  /** The end of the lease while the execution is held, else when it may be claimed; null for never. */
  readonly dueAt: EpochMs | null;
  /** The holder of the execution, also if its lease has run out; `rateOwner` while the execution waits for its rate. Null: not held. */
  readonly owner: string | null;
  /** The fence of the last claim; 0: never claimed. */
  readonly fence: number;
  /** Two counts in one number: claims in a row that ran out, and how many of their holders had begun. See `claims/claim-count.ts`. */
  readonly crashes: number;
  /** The concurrency key and limit. With a rate only: the key of the line of this rate (`rateKeyOf`), and its limit. Null: neither. */
  readonly permit: Permit | null;
  /**
   * From when the execution may be claimed without a permit, because time or messages are left to handle: see `exemptAtOf`. 0 or less:
   * now. Null: never, or it has no concurrency key.
   */
  readonly exemptAt: EpochMs | null;
  /** Set for a tombstone: the execution was deleted, and the row only keeps its id taken. */
  readonly deletedAt: EpochMs | null;
  /** The version with which its present run began, while events of earlier runs are stored; else null. */
  readonly runSince: number | null;
  /** How many events were deleted by `trim`: those of the versions 1 to this number. */
  readonly trimmed: number;
}

/** The condition of a write: the row must have these values. An absent field is not checked. */
export interface RowCondition {
  readonly incarnation: string;
  readonly version?: number;
  readonly fence?: number;
  /** True: the row has an owner (its lease may have run out). False: it has none. */
  readonly held?: boolean;
  /** True: the status is not terminal. False: it is. */
  readonly open?: boolean;
  /** The execution is due: `dueAt` is not after the database's now, or the execution is due at once (not held, and `wakeAt` 0 or less). */
  readonly due?: true;
  /** True: the row is a tombstone. Default false. */
  readonly deleted?: boolean;
  /** Events of the runs before this version are stored, and it is the present run that began with it. */
  readonly runSince?: number;
}

/**
 * When an execution is due after a write.
 *
 * - `inMs`: this many milliseconds after the database's now, for example at the end of a lease.
 * - `atWakeUp`: at `wakeAt`, which the same write may change. Null: never. 0 or less: at once; if the execution was due before, its
 *   earlier time stays, so that the longest due execution comes first.
 */
export type DueChange = "atWakeUp" | { readonly inMs: number };

/** The columns that a write changes. Absent columns stay as they are. */
export interface RowChanges {
  /** The columns that a commit writes. `updatedAt` becomes the database's now, and `endedAt` too if the status is terminal. */
  readonly state?: Pick<NewExecution, "version" | "status" | "head" | "sizeBytes" | "wakeAt"> & {
    /** The children of the write contain a checkpoint of this version. Absent: the last checkpoint stays. */
    readonly checkpointVersion?: number;
    /** The commit begins a run: `runSince` and `runAt` of the row get these values. */
    readonly run?: { readonly since: number; readonly at: EpochMs };
    /** The row is a copy of one with this value. */
    readonly trimmed?: number;
    /** Absent: the execution has no concurrency key, so `exemptAt` of its row is null. */
    readonly exemptAt?: EpochMs | null;
  };
  /** Only with `state`: the new metadata with tenant and waits, as JSON (see `storedMetadata`), and `labels` of it. */
  readonly metadata?: string;
  readonly labels?: string;
  readonly owner?: string | null;
  readonly fence?: number;
  /** Both counts of lost claims in one number; see `claims/claim-count.ts`. */
  readonly crashes?: number;
  readonly due?: DueChange;
  /** If the row has an owner when the write is made, `due` is ignored, because `dueAt` is then the end of the lease. */
  readonly dueUnlessHeld?: true;
}

/** Events and children that a commit writes. */
export interface RowHistory {
  readonly commitId: string;
  readonly events: readonly WrittenEvent[];
  readonly children: readonly WrittenChild[];
}

/** The row of a new execution. The database sets `seq`, `createdAt` and `updatedAt`; `crashes` is 0. */
export interface NewExecution {
  readonly incarnation: string;
  readonly definitionId: string;
  /** JSON. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: string;
  /** The text that lists search: see `labelText`. */
  readonly labels: string;
  readonly version: number;
  readonly status: Status;
  /** JSON. */
  readonly head: string;
  readonly sizeBytes: number;
  readonly wakeAt: EpochMs | null;
  readonly permit: Permit | null;
  readonly exemptAt: EpochMs | null;
  readonly owner: string | null;
  readonly fence: number;
  readonly due: DueChange;
}

/**
 * One write. It is made as a whole or not at all, and only if its condition holds at that moment.
 *
 * - `insert`: adds a row, unless a row or a tombstone has the id.
 * - `update`: changes columns, and adds to the history.
 * - `bury`: turns the row into a tombstone: `deletedAt` becomes the database's now, and the row has no owner and is no longer due. Its
 *   texts, history and children are deleted. Id, incarnation, version and status stay; the other columns have no meaning any more.
 * - `trim`: deletes the events from version 1 to before `runSince`. `trimmed` becomes their last version, `runSince` and `runAt` null.
 * - `remove`: deletes the row, and all that remains of its history and children.
 */
export type RowWrite =
  | { readonly kind: "insert"; readonly id: string; readonly row: NewExecution; readonly history: RowHistory }
  | {
      readonly kind: "update";
      readonly id: string;
      readonly when: RowCondition;
      readonly set: RowChanges;
      readonly history?: RowHistory;
      /** If another transaction has locked the row, the database does not wait: the write is not made, as if its condition did not hold. */
      readonly skipLocked?: boolean;
    }
  | { readonly kind: "trim"; readonly id: string; readonly when: RowCondition & { readonly runSince: number } }
  | { readonly kind: "bury" | "remove"; readonly id: string; readonly when: RowCondition };

/** The result of a write that was made. */
export interface RowWritten {
  /** The database's clock when the write was made. */
  readonly now: EpochMs;
  /** Version and status after the write. */
  readonly version: number;
  readonly status: Status;
}

/**
 * The result of a write. Null: the condition did not hold, so nothing was written. An error: the database refused this write only.
 * `passedOver`: the row was locked by another transaction, or is not there. In a call with several writes the database does not wait for
 * locked rows; for a single write it waits, unless the write has `skipLocked`.
 */
export type RowAnswer = RowWritten | StepfoldError | "passedOver" | null;

/** Selects due executions. */
export interface DueQuery {
  /** The most executions; with `keys`, the most for each key. */
  readonly limit: number;
  /** Only executions that have been due for at least this many milliseconds. Negative: also those that become due within this time. */
  readonly overdueMs: number;
  /** Only executions with one of these keys in their permit. Null: only executions without a permit. */
  readonly keys: readonly string[] | null;
}

/** The due executions of a query. */
export interface DueExecutions {
  readonly executions: readonly ExecutionGuard[];
  /** In the answer for executions without a permit: true if an execution with a permit is due, or if the table does not know. */
  readonly areKeysDue: boolean;
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

/** The position of an execution in a list. The next page begins after the last execution of a page. */
export interface ListCursor {
  readonly createdAt: EpochMs;
  readonly seq: number;
}

/** Asks for a part of a list. */
export interface PageQuery extends Omit<CheckedQuery, "metadata" | "tenant" | "waiting" | "cursor"> {
  /** All of these labels must be in the text of labels of a row. */
  readonly labels: readonly string[];
  /** Null: from the beginning. */
  readonly after: ListCursor | null;
}

/** Rows in the order of the list. They may include rows that do not match the query. */
export interface ListedPart {
  readonly rows: readonly ListedRow[];
  /** The position after which the next part begins; null: nothing follows. */
  readonly next: ListCursor | null;
  /** How many rows the database looked at. Default: the number of `rows`. */
  readonly looked?: number;
}

/** For a table that looks at rows one by one: how far it looked. */
interface Looked {
  /** False: there may be more rows. Default true. */
  readonly complete?: boolean;
  /** How many rows were looked at. Absent: the database counted by itself. */
  readonly looked?: number;
}

/** The numbers of rows by status, at most `limit` of the query for each. */
export interface CountedRows extends Looked {
  readonly counts: ReadonlyMap<Status, number>;
}

/** A number of ended rows with the same bucket, status and class of duration. */
export interface EndedCount {
  /** The index of the part of the period. */
  readonly bucket: number;
  readonly status: Status;
  readonly durationClass: number;
  readonly amount: number;
}

/** The numbers of ended rows in a period. */
export interface EndedCounts extends Looked {
  readonly counts: readonly EndedCount[];
}

/** The columns of an execution that a list shows. */
export interface ListedRow extends ExecutionGuard {
  /** JSON. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: string;
  /** JSON; see `headText`. */
  readonly head: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
}

/** Selects ended executions or tombstones to delete. */
export interface EndedQuery {
  /** Only rows whose `endedAt`, or `deletedAt` of tombstones, is before this time. */
  readonly before: EpochMs;
  readonly limit: number;
  /** Conditions for ended executions (`definitionId` null: any). Null: select tombstones. */
  readonly ended: { readonly statuses: readonly Status[]; readonly definitionId: string | null } | null;
}

/** Selects executions that have events of earlier runs. */
export interface EarlierRunsQuery {
  /** Only rows whose `runAt` is before this time. */
  readonly before: EpochMs;
  readonly limit: number;
  /** Null: any. */
  readonly definitionId: string | null;
  /** Only the execution with this id. Null: any. */
  readonly id: string | null;
}

/** An execution that has events of earlier runs. */
export interface LaterRun extends ExecutionGuard {
  readonly checkpointVersion: number | null;
}

/** Finds rows by the values of their columns: for lists, counts and deletions. */
export interface ListTable {
  /** Returns executions after a position in the list, at most `limit`. No tombstones. */
  page(query: PageQuery): Promise<ListedPart>;
  /** Counts rows by status, if the database can do so without returning them. Absent, or null: the kit counts the rows of `page`. */
  count?(query: PageQuery): Promise<CountedRows | null>;
  /** Counts ended rows, if the database can do so without returning whole rows. Absent: the kit counts the rows of `page`. */
  endedCounts?(query: SeriesQuery): Promise<EndedCounts>;
  /** Returns rows that may be deleted, the oldest first. */
  ended(query: EndedQuery): Promise<readonly ExecutionGuard[]>;
  /** Returns executions that have events of earlier runs, by `runAt`, the oldest first. The cost must not depend on all other executions. */
  earlierRuns(query: EarlierRunsQuery): Promise<readonly LaterRun[]>;
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

/** One event as a row. */
export interface StoredEvent {
  readonly version: number;
  readonly commitId: string;
  /** JSON. */
  readonly text: string;
}
