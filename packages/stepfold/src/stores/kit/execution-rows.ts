import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Permit } from "../../core/values/shared-keys.ts";
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
  /** Names the partition in which it is due (see `claims/partitions.ts`), with the limit of its concurrency key or rate. Null: that of all others. */
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
  /** Moves the execution into another partition: see `claims/partitions.ts`. */
  readonly permit?: Permit | null;
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

/** One event as a row. */
export interface StoredEvent {
  readonly version: number;
  readonly commitId: string;
  /** JSON. */
  readonly text: string;
}
