import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { ErrorInfo } from "../core/errors/error-info.ts";
import type { WaitSummary } from "../core/reading/summary-of-head.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { HistoryCheckpoint } from "../core/snapshot/history-checkpoint.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import type { Rate } from "../core/values/shared-keys.ts";
import type { EndedSeries, ExecutionCounts, SeriesQuery } from "./execution-counts.ts";
import type { TransactionQuery } from "./transaction-query.ts";

/** One event as it lies in the store; its result is part of it. */
export interface AppendedRow {
  readonly version: number;
  /** The commit that wrote it. */
  readonly commitId: string;
  readonly event: Event;
}

/** A child as a commit writes it. Its results lie in the events. */
export interface ChangedChild {
  /** Any text but an empty one, which names the execution itself: not a path, not a pattern, and another one in other case. The same key in two executions is two children. */
  readonly key: string;
  /** Null: it is to be deleted. */
  readonly head: ChildHead | null;
}

/** The one atomic write of events and the new head. */
export interface Commit {
  readonly workflowId: string;
  /** Of the execution that was loaded: an id that was deleted and created again is another execution. */
  readonly incarnation: string;
  /** Version that is stored now; -1 for `create`. The events follow it without a gap. */
  readonly expectedVersion: number;
  /** A claim's holder always sends its fence; everybody else never does. */
  readonly fence?: number;
  /** Random. The same commit sent twice is applied once and acknowledged twice. */
  readonly commitId: string;
  /**
   * Replaces the head that is stored: a field that is absent here is gone (`inbox`, `rounds`, `ending`, `error`...).
   * Only `definition`, `tenant`, `input` and `incarnation` stay as `create` wrote them, and so does `metadata` in a commit without an event that has
   * set it: else that of this head is what lists find the execution by from now on.
   *
   * A store keeps every field of it, known or not, and nothing beside: `context`, `childStates`, `mapItems` and
   * `compensations` are never in it, nor copied into it, because they grow; `restore` of `stepfold/core` makes them from
   * the events.
   */
  readonly head: SnapshotHead;
  /** Kept as they are, with every field: also results in `consequences`, also of children. */
  readonly events: readonly Event[];
  /**
   * Children that have changed; all others stay as they are, and a commit costs nothing for them. Default: none.
   *
   * They are taken in this order: of two with one key the later counts. Each replaces what was there as a whole. The order
   * of children is that of their creation: one that is there keeps its place when it changes, one that was deleted and is
   * put again is the last. To delete one that is not there is no mistake.
   */
  readonly children?: readonly ChangedChild[];
  /**
   * What the execution holds at the version of the head: from this commit on `load` reads only the events after it, whatever came before.
   * It takes the place of the last one, and is no part of the history. `load` gives what `restore` makes of it; a store that has no room for
   * it, because it is larger than a value may be, takes no notice of it. Never in the first commit.
   */
  readonly checkpoint?: HistoryCheckpoint;
  /** When the execution needs somebody to drive it: 0 for now, null for never. */
  readonly wakeAt: EpochMs | null;
  /** Gives the claim back in the same write; only together with its fence. */
  readonly release?: boolean;
  /**
   * Writes something else in the same transaction, after the commit itself: both are there, or neither. If it rejects, nothing
   * is written, and the commit rejects with what it rejected with. It may be called again for a commit that was applied before.
   * Only stores with `features.transactions` do so, others take no notice.
   */
  readonly alongside?: (query: TransactionQuery) => Promise<void>;
}

/** Who claims, and for how long without a sign of life. */
export interface Lease {
  readonly owner: string;
  readonly leaseMs: number;
}

/** The right to drive one execution until the lease ends. */
export interface Claim extends Lease {
  readonly workflowId: string;
  readonly incarnation: string;
  /** Of the execution when it was claimed. */
  readonly version: number;
  /** Bytes of JSON that its snapshot holds (`snapshot.sizeBytes`): how much room it takes to load it. */
  readonly sizeBytes: number;
  /**
   * Rises with every claim of the execution, by a random step: what carries another one is refused. So a claim that was lost when a
   * database fell back to an older state is refused too, although the execution has been claimed as often since.
   */
  readonly fence: number;
  /** The store's clock at that moment: it judges leases and due times, so whoever drives goes by it. */
  readonly claimedAt: EpochMs;
  /** How many claims in a row ran out before this one, since the last commit of a holder: of processes that died or were lost, or never got the answer. */
  readonly expired: number;
  /** Those of them whose holder had begun: it had renewed its claim. A slow store loses claims, but only a process can crash. */
  readonly crashes: number;
  /**
   * Two claims of it ran out before their holders began, so loading or running it may end the process. A process begins one such
   * execution at a time, and renews the claim before it loads the snapshot. Then its death counts as a crash of this execution only.
   */
  readonly alone?: true;
}

/** What to claim. */
export interface ClaimOptions extends Lease {
  /** At most so many. */
  readonly limit: number;
  /** Only this one. */
  readonly workflowId?: string;
  /** Only those with this key in their `permit`. */
  readonly permit?: string;
  /** Only what is due, or out of its lease, for at least so many milliseconds: what another way of waking it has missed. Default 0. */
  readonly overdueMs?: number;
  /**
   * The rates of today, by the id of the workflow; null: it has none any more. They count instead of those that stand in the heads of
   * executions; with the keys that stand there.
   */
  readonly rates?: Readonly<Record<string, Pick<Rate, "limit" | "periodMs"> | null>>;
}

/** Which executions. */
export interface ListQuery {
  readonly status?: readonly Status[];
  /** Id of the workflow definition. */
  readonly definitionId?: string;
  /** Equal values of top-level metadata keys. */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>>;
  /** Only executions of this tenant. */
  readonly tenant?: string;
  /** Exclusive, as `createdAfter`. */
  readonly createdBefore?: EpochMs;
  readonly createdAfter?: EpochMs;
  /** Only executions whose id begins so. Only where `features.lists` says so, as `order`. */
  readonly idPrefix?: string;
  /** Which come first: those that were created last (`newest`, the default) or first. */
  readonly order?: "newest" | "oldest";
  /** 1 to 1,000; default 50. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Which executions to count. */
export type CountQuery = Omit<ListQuery, "order" | "limit" | "cursor">;

/** An execution in a list. */
export interface ExecutionSummary {
  readonly workflowId: string;
  /** Tells it from a deleted one with the same id. */
  readonly incarnation: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  readonly currentNodeId: string | null;
  readonly version: number;
  readonly metadata: Readonly<Record<string, Json>>;
  /** Absent: it has none. */
  readonly tenant?: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /**
   * When it needs somebody to drive it: 0 for now, null for never. Of one that waits for its first claim, because of a rate: when that may be
   * its turn.
   */
  readonly wakeAt: EpochMs | null;
  /** Who holds it; `until` may have passed, then it waits for another to take it. Null: nobody, or it has ended. */
  readonly lease: { readonly owner: string; readonly until: EpochMs; readonly crashes: number } | null;
  /** The first thing that its own paths wait for; what its children wait for is not in it. Null: nothing. */
  readonly waiting: WaitSummary | null;
  /** What it failed with, or will fail with. Null: nothing. */
  readonly error: Pick<ErrorInfo, "name" | "message" | "code" | "nodeId"> | null;
  /** Attempts made, in all. */
  readonly steps: number;
  /** By when it must have ended. Absent: at any time. */
  readonly deadlineAt?: EpochMs;
  /** About how many bytes of JSON it holds. */
  readonly sizeBytes: number;
}

/**
 * Part of a list. Executions that come or go meanwhile neither repeat nor hide the others. It may have fewer items than were asked
 * for, and a cursor: then the store has looked at as many executions as it does in one call, and the next page goes on.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Which ended executions to delete. */
export interface PruneOptions {
  /** Last changed before. */
  readonly before: EpochMs;
  /** Only executions of this workflow definition. Default: of all. */
  readonly definitionId?: string;
  /** Default: all terminal ones. */
  readonly statuses?: readonly ("completed" | "failed" | "cancelled")[];
  /** At most so many in one call; default 1,000. */
  readonly limit?: number;
  /** Delete nothing, only say what would be deleted. */
  readonly dryRun?: boolean;
}

/** An execution that is no longer there. */
export interface DeletedExecution {
  readonly workflowId: string;
  readonly incarnation: string;
}

/** What a prune did, or would do. */
export interface PruneReport {
  readonly executions: number;
  readonly events: number;
  /** The executions, those first that ended first. */
  readonly deleted: readonly DeletedExecution[];
}

/** What a store can do, as data. */
export interface StoreFeatures {
  /** Whose clock judges leases and due times. */
  readonly clock: "store" | "caller";
  /** Survives the end of the process. */
  readonly durable: boolean;
  /** Several processes may share it. */
  readonly multiProcess: boolean;
  /**
   * The most bytes of JSON that one part of a commit may have: its head, one event, one child. More is refused with
   * `LIMIT_EXCEEDED` before anything is written. Absent: no limit below that of the engine.
   */
  readonly maxValueBytes?: number;
  /** Executions with a `permit` take turns, and those with a `rate` begin no faster. Absent: the store takes no notice of permits, and must not be given any. */
  readonly permits?: true;
  /** `create` and `commit` take `alongside`, and give it SQL of this kind. */
  readonly transactions?: "postgres";
  /** Lists take `order` and `idPrefix`, and `count`, `summaries` and `ended` are there. */
  readonly lists?: true;
}

/**
 * The durable home of executions. Every adapter passes the contract in `stepfold/testing`.
 *
 * Any method may reject with `STORE_UNAVAILABLE` (try again) or `STORE_REJECTED`.
 */
export interface SnapshotStore {
  readonly name: string;
  readonly features: StoreFeatures;
  /**
   * Stores a new execution: version 0 and the events after it. One with a `permit` or a `rate` in its head is not claimed with it.
   *
   * @returns the claim, if one was asked for
   * @throws StepfoldError `WORKFLOW_EXISTS` if the id is taken, or was within the retention of deleted ids
   * @throws StepfoldError `OPTION_INVALID` unless `leaseMs` is a whole number from 1 on
   */
  create(commit: Commit, options?: { readonly claim?: Lease }): Promise<Claim | null>;
  /** The whole snapshot: head, children and history of one version, also while others commit. Children in order of creation. */
  load(workflowId: string): Promise<Snapshot | null>;
  /**
   * Gives where an execution stands, without its input, history and children. It reads little, however large the execution is: an
   * execution whose snapshot ends each process that loads it can still be parked. `createdAt` is the store's time of creation, as in a list.
   */
  loadHead(workflowId: string): Promise<SnapshotHead | null>;
  /**
   * Makes events, head and children visible together, or not at all. Repeating one that was applied is acknowledged.
   *
   * @throws StepfoldError `VERSION_CONFLICT` if `expectedVersion` or `incarnation` is not what is stored; nothing is written
   * @throws StepfoldError `FENCE_LOST` if a fence was sent and is not the current claim's; nothing is written
   * @throws StepfoldError `EXECUTION_ENDED` if what is stored is terminal; nothing is written
   * @throws StepfoldError `LIMIT_EXCEEDED` if a part of it is more than the store can hold; nothing is written
   */
  commit(commit: Commit): Promise<void>;
  /**
   * Takes executions that are due and that nobody holds, longest due first: what is due now before what has a time. With
   * `workflowId`: that one, if it is. Where more is due than is ever taken, none of one kind waits for ever because of the
   * others: what is due now, what has a time (also the end of a lease), what has a `permit`.
   *
   * One whose head has a `permit` is only taken while fewer than `limit` executions with the same key are claimed: claims
   * whose lease has not ended, also those of other workflows and other limits. This is exact, however many claim at once.
   * Those that have to wait for their turn hold up no others; of one key the longest due comes first.
   *
   * The first claim of one whose head has a `rate` is only made if fewer than `limit` first claims with the same key were made in the
   * last `periodMs`, also of other workflows and other limits: exact, by the store's clock. Where that is the callers', periods are a second
   * longer, by which their clocks may differ. Until then it holds up no others, and is due when it may be its turn. Later claims are free,
   * also if the first one never began.
   *
   * A claim reads no snapshot. Its holder loads that when it has room for `sizeBytes`, and finds it as it was claimed or newer.
   */
  claim(options: ClaimOptions): Promise<readonly Claim[]>;
  /**
   * Prolongs a claim, and tells its holder what happened meanwhile. From now on the holder has begun: if it is lost without a commit
   * or a release, that is a crash. After a commit the claim is passed with `expired` and `crashes` 0.
   *
   * @throws StepfoldError `FENCE_LOST`
   */
  renew(claim: Claim): Promise<{ readonly version: number; readonly status: Status; readonly storeNow: EpochMs }>;
  /**
   * Gives a claim back. A claim that is no longer held is given back already.
   *
   * @throws StepfoldError `VERSION_CONFLICT` if somebody committed since `version`: reload and go on; the claim is still yours
   */
  release(claim: Claim, version: number): Promise<void>;
  /**
   * The clock that judges leases and due times. Whoever writes goes by it: by one clock it is one moment at which a wait is over
   * or a timer is due, however wrong the clocks of processes are.
   */
  now(): Promise<EpochMs>;
  /** History after a version, oldest first. */
  events(workflowId: string, afterVersion: number, limit: number): Promise<readonly AppendedRow[]>;
  /** @throws StepfoldError `OPTION_INVALID` for a limit out of range, or a cursor that no page gave */
  list(query?: ListQuery): Promise<Page<ExecutionSummary>>;
  /**
   * Counts the executions of a query by their status. Optional, as the next two: without it `countExecutions` counts what `list` gives.
   *
   * @param atMost of each status; default 10,000. It costs no more than to look at so many
   * @throws StepfoldError `OPTION_INVALID`
   */
  count?(query?: CountQuery, atMost?: number): Promise<ExecutionCounts>;
  /** Those of these ids that are there, in any order. @throws StepfoldError `OPTION_INVALID` for more than 200 */
  summaries?(workflowIds: readonly string[]): Promise<readonly ExecutionSummary[]>;
  /** Counts what has ended in each part of a time, with how long it took. @throws StepfoldError `OPTION_INVALID` */
  ended?(query: SeriesQuery): Promise<EndedSeries>;
  /**
   * Deletes an ended execution with its history and its children; its id stays taken for the store's retention (30 days by default).
   *
   * @throws StepfoldError `EXECUTION_OPEN` if it has not ended, `WORKFLOW_NOT_FOUND`
   */
  delete(workflowId: string): Promise<void>;
  /** Deletes what ended a while ago, the oldest first. @throws StepfoldError `OPTION_INVALID` */
  prune(options: PruneOptions): Promise<PruneReport>;
  /** Keeps a definition under its hash, for ever and unchanged. */
  putDefinition(hash: string, definition: WorkflowDefinition): Promise<void>;
  getDefinition(hash: string): Promise<WorkflowDefinition | null>;
  /** Waits for calls under way, half a minute at most, and frees what the store opened itself. Safe to call twice; any other call afterwards is `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}
