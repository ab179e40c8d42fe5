import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { ErrorInfo } from "../core/errors/error-info.ts";
import type { WaitSummary } from "../core/reading/summary-of-head.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { HistoryCheckpoint } from "../core/snapshot/history-checkpoint.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../core/snapshot/snapshot.ts";
import type { ListedWait } from "../core/transition/draft/listed-waits.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import type { Rate } from "../core/values/shared-keys.ts";
import type { EndedSeries, ExecutionCounts, SeriesQuery } from "./execution-counts.ts";
import type { MetadataFilter, WaitFilter } from "./list-filters.ts";
import type { DefinitionLibrary, PutDefinitionOptions } from "./store-definitions.ts";
import type { LiveWorker, WorkerBeat } from "./store-workers.ts";
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
  /**
   * Any text but "", which means the execution itself. It has no inner form for a store, and is compared exactly, with case. Keys of
   * different executions have nothing to do with each other.
   */
  readonly key: string;
  /** Null: it is to be deleted. */
  readonly head: ChildHead | null;
}

/** The one atomic write of events and the new head. */
export interface Commit {
  /** Id of the execution; that of the workflow's definition is `head.definition.id`. */
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
   * `definition`, `tenant`, `input` and `incarnation` are those of `create` for good: a store may ignore what later commits say of them. `metadata`
   * changes only with a commit one of whose events has set it: from then on lists find the execution by that of this head.
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
   * of children is that of their creation: one that is there keeps its place when it changes. One that was deleted and is
   * put again comes last, also where one commit does both. Deleting one that is not there does nothing.
   */
  readonly children?: readonly ChangedChild[];
  /**
   * What the execution holds at the version of the head. `load` then gives `restore` the checkpoint and the events after its version, so it
   * need not read those before. The checkpoint replaces the one that was stored before, and is no part of the history.
   *
   * One that is larger than a value may be is ignored, without an error: the former one stays, and `load` only reads more. `create` is never
   * given one.
   */
  readonly checkpoint?: HistoryCheckpoint;
  /**
   * What the execution waits for from this commit on, by which lists find it (`ListQuery.waiting`). Absent: the same as before; from `create`,
   * nothing. A commit that sets metadata says it again: what is absent there is nothing.
   */
  readonly waits?: readonly ListedWait[];
  /** When the execution needs somebody to drive it: 0 for now, null for never. */
  readonly wakeAt: EpochMs | null;
  /** Gives the claim back in the same write. Ignored without `fence`: who has no claim cannot give one back. */
  readonly release?: boolean;
  /**
   * Writes something else in the same transaction, after the commit itself: both are there, or neither. If it rejects, nothing
   * is written, and the commit rejects with what it rejected with. When a commit that was applied is repeated, it is called again: what it
   * writes must be the same if it is written twice.
   *
   * Only stores with `features.transactions` call it. All others ignore it, so ask the feature first: what it should write is not written.
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
  /**
   * How many claims ran out since the last commit of a holder: of processes that died or were lost, or never got the answer. One that was
   * given back is not counted, and leaves the number as it was.
   */
  readonly expired: number;
  /** How many of the `expired` claims had been renewed, so that their holders had begun. A slow store loses claims, but only a process can crash. */
  readonly crashes: number;
  /**
   * Two claims of it ran out before their holders began, so loading or running it may kill the process. A process begins one such
   * execution at a time, and renews the claim before it loads the snapshot. Then its death counts as a crash of this execution only.
   */
  readonly alone?: true;
}

/** What to claim. */
export interface ClaimOptions extends Lease {
  /** The most executions to claim. */
  readonly limit: number;
  /** Only this execution. */
  readonly workflowId?: string;
  /** Only executions whose head has a `permit` with this `key`. */
  readonly permit?: string;
  /** Only what has been due, or out of its lease, for at least this time: what another way of waking it has missed. Default 0. */
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
  /** Only executions whose metadata has each of these top-level keys with an equal value, or with one between bounds (`{ amount: { gte: 100 } }`). */
  readonly metadata?: Readonly<Record<string, MetadataFilter>>;
  /**
   * Only executions one of whose open waits is such a one, be it in a sub-workflow or an item of a map; `{}`: that wait for anything. Of an
   * execution lists know the first 100 waits, where each who may answer counts for one.
   */
  readonly waiting?: WaitFilter;
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
  /** What lists find it by (`ListQuery.waiting`), also what its children wait for. Absent: nothing. */
  readonly waits?: readonly ListedWait[];
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
  /** Only executions that ended before this time. */
  readonly before: EpochMs;
  /** Only executions of this workflow definition. Default: of all. */
  readonly definitionId?: string;
  /** Default: all terminal ones. */
  readonly statuses?: readonly ("completed" | "failed" | "cancelled")[];
  /** The most executions to delete in one call; default 1,000. */
  readonly limit?: number;
  /** Delete nothing, only say what would be deleted. */
  readonly dryRun?: boolean;
}

/** An execution that was deleted, or would be. */
export interface DeletedExecution {
  readonly workflowId: string;
  readonly incarnation: string;
}

/** What a prune did, or would do. */
export interface PruneReport {
  readonly executions: number;
  readonly events: number;
  /** These executions, in the order in which they ended. */
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
  /** Claims keep to the permits and the rates of executions (see `claim`). Absent: they do not, and no head with one may be given to the store. */
  readonly permits?: true;
  /** `create` and `commit` take `alongside`, and give it SQL of this kind. */
  readonly transactions?: "postgres";
  /** Lists take `order` and `idPrefix`, and `count`, `summaries`, `ended`, `beat` and `workers` are there. */
  readonly lists?: true;
  /** `listDefinitions`, `label` and `labels` are there. */
  readonly definitions?: true;
}

/**
 * The durable home of executions. Every adapter passes the contract in `stepfold/testing`.
 *
 * A `workflowId` is always the id of an execution. "Null" as an answer means that there is none with that id.
 *
 * Any method may reject with `STORE_UNAVAILABLE` (the database did not answer; a write may have been made or not; try again), or with
 * `STORE_REJECTED` (it refuses and will refuse again: a damaged execution, tables of another version, missing permissions).
 */
export interface SnapshotStore extends Partial<DefinitionLibrary> {
  readonly name: string;
  readonly features: StoreFeatures;
  /**
   * Stores a new execution: version 0 and the events after it. Repeating one that was applied is acknowledged.
   *
   * @returns the claim, if one was asked for; when it is repeated, only while that claim is still in force. Null for an execution
   * whose head has a `permit` or a `rate`: only `claim` counts these
   * @throws StepfoldError `WORKFLOW_EXISTS` if the id is taken, or was within the retention of deleted ids
   * @throws StepfoldError `OPTION_INVALID` unless `leaseMs` is a whole number from 1 on
   */
  create(commit: Commit, options?: { readonly claim?: Lease }): Promise<Claim | null>;
  /** The whole snapshot: head, children and history of one version, also while others commit. Children in order of creation. */
  load(workflowId: string): Promise<Snapshot | null>;
  /**
   * The head without `input`. It reads neither history nor children, so it costs little however large the execution is: an
   * execution whose snapshot kills each process that loads it can still be parked. `createdAt` is the store's time of creation, as in a list.
   */
  loadHead(workflowId: string): Promise<SnapshotHead | null>;
  /**
   * Makes events, head and children visible together, or not at all. Repeating a commit that was applied is acknowledged, also
   * after the claim was lost or the execution has ended. The reasons to refuse one are asked in the order below: the first that holds is thrown.
   * Then nothing is written.
   *
   * @throws StepfoldError `LIMIT_EXCEEDED` if its head, an event or a child is larger than the store can hold
   * @throws StepfoldError `VERSION_CONFLICT` if `incarnation` is not what is stored, or nothing is
   * @throws StepfoldError `FENCE_LOST` if a fence was sent and is not that of the claim that is in force
   * @throws StepfoldError `VERSION_CONFLICT` if `expectedVersion` is not what is stored
   * @throws StepfoldError `EXECUTION_ENDED` if what is stored is terminal
   */
  commit(commit: Commit): Promise<void>;
  /**
   * Takes executions that are due and that nobody holds; with `workflowId` that one, if it is due and free.
   *
   * Order: there are three kinds of due executions: those due at once (`wakeAt` 0), those whose time has come (also the end of a lease), and those
   * with a `permit`. Within a kind, and of those with a permit within a key, the longest due comes first. Those due at once usually come
   * before those whose time has come; but when more is due than is taken, every kind gets a share, so that none waits for ever.
   *
   * One whose head has a `permit` is only taken while fewer than `permit.limit` executions with the same `permit.key` are claimed: claims
   * whose lease has not ended, also those of other workflows and with other limits. This is exact, however many claim at once.
   * Executions that wait for a permit hold up no others.
   *
   * The first claim of one whose head has a `rate` is only made if fewer than `rate.limit` first claims with the same `rate.key` were made in the
   * last `rate.periodMs`, also of other workflows and with other limits: exact, by the store's clock. Where that is the callers', periods are a second
   * longer, by which their clocks may differ. Until then it holds up no others, and is due when it may be its turn. Later claims are free,
   * also if the first one never began.
   *
   * A claim reads no snapshot. Its holder loads that when it has room for `sizeBytes`, and finds it as it was claimed or newer.
   */
  claim(options: ClaimOptions): Promise<readonly Claim[]>;
  /**
   * Prolongs a claim, and tells its holder what happened meanwhile. From now on the holder has begun: if it is lost without a commit
   * or a release, that is a crash.
   *
   * `renew` and `release` store `expired` and `crashes` of the claim that they are given. A holder whose commit was acknowledged must therefore
   * pass its claim with both set to 0, or the numbers from before the commit come back. They also do with a renewal that was sent before the
   * commit and arrives after it, until the next one.
   *
   * @throws StepfoldError `FENCE_LOST` if the claim is no longer in force. Not for its last holder when the execution has ended: `status` says so
   */
  renew(claim: Claim): Promise<{ readonly version: number; readonly status: Status; readonly storeNow: EpochMs }>;
  /**
   * Gives a claim back. Resolves, and does nothing, for a claim that is no longer in force.
   *
   * @throws StepfoldError `VERSION_CONFLICT` if the claim is in force and somebody committed since `version`: it stays in force; load
   * again and go on
   */
  release(claim: Claim, version: number): Promise<void>;
  /**
   * The clock that judges leases and due times. Whoever writes goes by it: by one clock it is one moment at which a wait is over
   * or a timer is due, however wrong the clocks of processes are.
   */
  now(): Promise<EpochMs>;
  /** At most `limit` events after a version, the oldest first. Empty if there are none, or no such execution. */
  events(workflowId: string, afterVersion: number, limit: number): Promise<readonly AppendedRow[]>;
  /** @throws StepfoldError `OPTION_INVALID` for a limit out of range, or a cursor that no page gave */
  list(query?: ListQuery): Promise<Page<ExecutionSummary>>;
  /**
   * Counts the executions of a query by their status. Optional, as the next two: without it `countExecutions` counts what `list` gives.
   *
   * @param atMost the number at which counting a status stops; default 10,000. It bounds what the call costs
   * @throws StepfoldError `OPTION_INVALID`
   */
  count?(query?: CountQuery, atMost?: number): Promise<ExecutionCounts>;
  /** The executions of these ids, in any order; without those that are not there. @throws StepfoldError `OPTION_INVALID` for more than 200 ids */
  summaries?(workflowIds: readonly string[]): Promise<readonly ExecutionSummary[]>;
  /** Divides a time into parts of equal length, and counts what ended in each, by how long it had taken. @throws StepfoldError `OPTION_INVALID` */
  ended?(query: SeriesQuery): Promise<EndedSeries>;
  /** Keeps a sign of life of a process, in the place of its last one. Optional, as `workers`. @throws StepfoldError `OPTION_INVALID` */
  beat?(beat: WorkerBeat): Promise<void>;
  /** The processes that are alive by their signs, by their names. One that died is among them until its sign has run out. */
  workers?(): Promise<readonly LiveWorker[]>;
  /**
   * Deletes an ended execution with its history and its children; its id stays taken for the store's retention (30 days by default).
   *
   * @throws StepfoldError `EXECUTION_OPEN` if it has not ended, `WORKFLOW_NOT_FOUND`
   */
  delete(workflowId: string): Promise<void>;
  /** Deletes what ended a while ago, the oldest first. @throws StepfoldError `OPTION_INVALID` */
  prune(options: PruneOptions): Promise<PruneReport>;
  /** Keeps a definition under its hash, for ever. Does nothing if there is one: the same hash means the same definition. */
  putDefinition(hash: string, definition: WorkflowDefinition, options?: PutDefinitionOptions): Promise<void>;
  getDefinition(hash: string): Promise<WorkflowDefinition | null>;
  /**
   * Waits for calls under way, half a minute at most, and frees what the store opened itself. It may be called twice; every other call
   * afterwards rejects with `STORE_UNAVAILABLE`.
   */
  close(): Promise<void>;
}
