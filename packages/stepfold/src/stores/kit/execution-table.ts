import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Permit } from "../../core/values/shared-keys.ts";
import type { SeriesQuery } from "../../ports/execution-counts.ts";
import type { StoreFeatures } from "../../ports/snapshot-store.ts";
import type { TransactionQuery } from "../../ports/transaction-query.ts";
import type { CheckedQuery } from "./lists/checked-query.ts";
import type { LockLimit } from "./no-answer.ts";
import type { RecordTable } from "./record-table.ts";
import type { StoredRows } from "./restored-snapshot.ts";
import type { WrittenChild, WrittenEvent } from "./writing/written-commit.ts";

/** The columns of an execution that guard its writes and say who may drive it, and when. */
export interface ExecutionGuard {
  readonly id: string;
  /** Rises with every execution that is created. */
  readonly seq: number;
  readonly incarnation: string;
  readonly version: number;
  /** Bytes of JSON that the snapshot holds. */
  readonly sizeBytes: number;
  readonly status: Status;
  /** What the last commit said: 0 for now, null for never. */
  readonly wakeAt: EpochMs | null;
  /** While it is held: the end of the lease. Else when it may be claimed; null for never. */
  readonly dueAt: EpochMs | null;
  /** Null when nobody holds it. */
  readonly owner: string | null;
  /** Of the last claim. */
  readonly fence: number;
  /** Claims in a row that ran out without a commit of their holder, and how many had begun: see `claims/claim-count.ts`. */
  readonly crashes: number;
  readonly permit: Permit | null;
  /** Set for a tombstone: the execution was deleted, and only its id is still taken. */
  readonly deletedAt: EpochMs | null;
}

/** What must be true of a row for a write to be made. What is absent does not matter. */
export interface RowCondition {
  readonly incarnation: string;
  readonly version?: number;
  readonly fence?: number;
  /** True: somebody holds it. False: nobody does. */
  readonly held?: boolean;
  /** The status is not a terminal one. */
  readonly open?: true;
  /** It is due: `dueAt` is not after the database's now, or it is due at once. */
  readonly due?: true;
  /** True: it is a tombstone. Default false. */
  readonly deleted?: boolean;
}

/**
 * When an execution is due after a write.
 *
 * - `inMs`: so many milliseconds after the database's now. The end of a lease.
 * - `atWakeUp`: as `wakeAt` says, which may be written with it. Null: never. 0 or less: at once; if it was due before, it stays
 *   due since then, so that the longest due stays the first. Else at that time.
 */
export type DueChange = "atWakeUp" | { readonly inMs: number };

/** What a write changes. What is absent stays as it is. */
export interface RowChanges {
  /** What a commit writes. `updatedAt` becomes the database's now, and `endedAt` too if the status is terminal. */
  readonly state?: Pick<NewExecution, "version" | "status" | "head" | "sizeBytes" | "wakeAt"> & {
    /** A checkpoint of this version is among the children. Absent: the last one stays. */
    readonly checkpointVersion?: number;
  };
  /** With `state`: other metadata or waits, as JSON, and the labels of both. */
  readonly metadata?: string;
  readonly labels?: string;
  readonly owner?: string | null;
  readonly fence?: number;
  readonly crashes?: number;
  readonly due?: DueChange;
  /** `due` is left alone if somebody holds the execution when the write is made: then `dueAt` is the end of the lease. */
  readonly dueUnlessHeld?: true;
}

/** Events and children that a commit writes. */
export interface RowHistory {
  readonly commitId: string;
  readonly events: readonly WrittenEvent[];
  readonly children: readonly WrittenChild[];
}

/** A new execution. `seq`, `createdAt` and `updatedAt` are the database's; `crashes` is 0. */
export interface NewExecution {
  readonly incarnation: string;
  readonly definitionId: string;
  /** JSON. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: string;
  /** What lists can search for: see `labelText`. */
  readonly labels: string;
  readonly version: number;
  readonly status: Status;
  /** JSON. */
  readonly head: string;
  readonly sizeBytes: number;
  readonly wakeAt: EpochMs | null;
  readonly permit: Permit | null;
  readonly owner: string | null;
  readonly fence: number;
  readonly due: DueChange;
}

/**
 * One write, made as a whole or not at all, and only if its condition holds when it is made.
 *
 * - `insert`: unless a row has the id, be it a tombstone.
 * - `update`: changes columns, and adds to the history.
 * - `bury`: makes a tombstone of it: `deletedAt` becomes the database's now, nothing is due, and all but id, incarnation,
 *   version and status is deleted, history and children too.
 * - `remove`: deletes the row, and what is left of its history and children.
 */
export type RowWrite =
  | { readonly kind: "insert"; readonly id: string; readonly row: NewExecution; readonly history: RowHistory }
  | {
      readonly kind: "update";
      readonly id: string;
      readonly when: RowCondition;
      readonly set: RowChanges;
      readonly history?: RowHistory;
      /** If another transaction has locked the row, it is not waited for: the write counts as one whose condition did not hold. */
      readonly skipLocked?: boolean;
    }
  | { readonly kind: "bury" | "remove"; readonly id: string; readonly when: RowCondition };

/** What became of a write that was made; null instead of it: the condition did not hold, nothing was written. */
export interface RowWritten {
  /** The database's clock when it was made. */
  readonly now: EpochMs;
  /** As they are after the write. */
  readonly version: number;
  readonly status: Status;
}

/**
 * What became of a write; null: the condition did not hold. An error: the database refused this one write, and not the others.
 * `passedOver`: of several writes, one whose row another transaction was writing, or was not there. It was not waited for; a lone one
 * is, unless it says `skipLocked`.
 */
export type RowAnswer = RowWritten | StepfoldError | "passedOver" | null;

/** Which executions are due. */
export interface DueQuery {
  /** Of each key, where there are keys. */
  readonly limit: number;
  /** Only what is due for at least so many milliseconds. */
  readonly overdueMs: number;
  /** Only those with one of these keys in their permit. Null: only those without a permit. */
  readonly keys: readonly string[] | null;
}

/** What is due. */
export interface DueExecutions {
  readonly executions: readonly ExecutionGuard[];
  /** Asked for what has no permit: whether something is due that has one. True where that is not known. */
  readonly areKeysDue: boolean;
}

/** What was claimed in one round trip, each as it is afterwards. */
export interface DueClaimed extends DueExecutions {
  readonly now: EpochMs;
}

/** A key for which at least one execution is due. */
export interface DueKey {
  readonly key: string;
  /** Of the permit of the one that is due longest. */
  readonly limit: number;
}

/** Some of the keys for which something is due. */
export interface DueKeys {
  readonly keys: readonly DueKey[];
  /** Where to look on; null: there are no more keys. */
  readonly next: string | null;
}

/** The last execution of a page: the next page begins after it. */
export interface ListCursor {
  readonly createdAt: EpochMs;
  readonly seq: number;
}

/** A part of a list. */
export interface PageQuery extends Omit<CheckedQuery, "metadata" | "tenant" | "waiting" | "cursor"> {
  /** All of them must be in the text of labels. */
  readonly labels: readonly string[];
  /** Null: from the beginning. */
  readonly after: ListCursor | null;
}

/** Rows in the order of the list. There may be some among them that were not asked for. */
export interface ListedPart {
  readonly rows: readonly ListedRow[];
  /** Where to look on; null: nothing follows. */
  readonly next: ListCursor | null;
  /** How many rows were looked at. Default: those that are here. */
  readonly looked?: number;
}

/** How far rows were looked at one by one. */
interface Looked {
  /** False: there may be more. Default true. */
  readonly complete?: boolean;
  readonly looked?: number;
}

/** Rows by their status, at most `limit` of each. */
export interface CountedRows extends Looked {
  readonly counts: ReadonlyMap<Status, number>;
}

/** Rows that have ended: so many of one status in one part of the time, of one class of durations. */
export interface EndedCount {
  readonly bucket: number;
  readonly status: Status;
  readonly durationClass: number;
  readonly amount: number;
}

/** Rows that have ended. */
export interface EndedCounts extends Looked {
  readonly counts: readonly EndedCount[];
}

/** What of an execution a list shows, as its row holds it. */
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

/** Which rows are to be deleted. */
export interface EndedQuery {
  /** `endedAt`, or `deletedAt` of tombstones, lies before. */
  readonly before: EpochMs;
  readonly limit: number;
  /** Null: tombstones. */
  readonly ended: { readonly statuses: readonly Status[]; readonly definitionId: string | null } | null;
}

/** Finds rows by what they say: for lists, counts and deletions. */
export interface ListTable {
  /** Executions after a place in the list, at most `limit`. No tombstones. */
  page(query: PageQuery): Promise<ListedPart>;
  /** Counts rows by status, for a database that can do so without giving them. Absent, or null: what `page` gives is counted. */
  count?(query: PageQuery): Promise<CountedRows | null>;
  /** Counts what has ended, for a database that can do so without giving all that a list shows. Absent: what `page` gives is counted. */
  endedCounts?(query: SeriesQuery): Promise<EndedCounts>;
  /** Rows that may be deleted, the oldest first. */
  ended(query: EndedQuery): Promise<readonly ExecutionGuard[]>;
}

/**
 * The executions of a store as its database keeps them: what a database has to bring. All rules stand in the kit, which makes
 * a `SnapshotStore` of it; here is only how this database reads and writes rows.
 *
 * A method may reject with anything: the store's `errorOf` says what it means. Times are epoch milliseconds.
 *
 * Where the clock that judges is not the database's own, another process may have a wrong one, or it may be set back. Such a
 * table keeps what is due at once apart from what has a time, so that it is due whatever the clock says, and merges both by time.
 */
export interface ExecutionTable {
  readonly name: string;
  readonly features: StoreFeatures;
  /** The guards of these ids, tombstones too, and the database's clock. What is not there is missing. */
  read(ids: readonly string[]): Promise<{ readonly now: EpochMs; readonly found: ReadonlyMap<string, ExecutionGuard> }>;
  /** Head, the events after the last checkpoint and children of these ids, each execution as it was at one moment. No tombstones. */
  load(ids: readonly string[]): Promise<ReadonlyMap<string, StoredRows>>;
  /** Rows of these ids as a list shows them, with the whole head. No tombstones. */
  heads(ids: readonly string[]): Promise<readonly ListedRow[]>;
  /** Makes writes on different ids, each on its own; the answers are in the order of the writes. */
  write(writes: readonly RowWrite[]): Promise<readonly RowAnswer[]>;
  /** Events after a version, oldest first. None for a tombstone. */
  events(id: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]>;
  /** What is due and may be claimed, also what a lease held that has ended; of each key by `dueAt`, then by `seq`. */
  due(query: DueQuery): Promise<DueExecutions>;
  /**
   * Keys after one of them, in the order of the database, for which something is due; `""` stands before all keys. It looks at
   * a bounded number of keys: however many executions wait for one key, or sleep, it must not look at each of them.
   */
  dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys>;
  /** How rows are found by what they say. */
  readonly lists: ListTable;
  /** What stands beside the executions. */
  readonly records: RecordTable;
  /**
   * Claims due executions without a permit in one round trip, the longest due first. A row that another transaction is writing is
   * left for a later claim. Gives each as it is afterwards, and the database's clock.
   *
   * @param claim.fenceStep what their fences rise by
   */
  claimDue?(claim: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly fenceStep: number;
    readonly limit: number;
    readonly overdueMs: number;
  }): Promise<DueClaimed>;
  /** Makes writes, and whatever else `work` sends, one transaction. What `work` rejects with undoes all of it. */
  transact?<T>(work: (own: Pick<ExecutionTable, "write" | "read" | "events">, query: TransactionQuery) => Promise<T>): Promise<T>;
  /** How writes are sent together. Absent: each alone, at once. */
  readonly grouping?: {
    readonly maxWrites: number;
    /** True if no single write would fare better than the group that failed. */
    isOutage(cause: unknown): boolean;
    /** True: what is issued in one turn of the event loop goes together. Default: only what is issued in the same moment. */
    readonly perTurn?: boolean;
  };
  /** Where the database waits for rows that others have locked: it is told of leases. */
  readonly lockLimit?: LockLimit;
  /** Frees what the store opened itself. Called once, when nothing is in flight any more. */
  close?(): Promise<void>;
}

/** One event as a row. */
export interface StoredEvent {
  readonly version: number;
  readonly commitId: string;
  /** JSON. */
  readonly text: string;
}
