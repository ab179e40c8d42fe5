import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { HistoryCheckpoint } from "../core/snapshot/history-checkpoint.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../core/snapshot/snapshot.ts";
import type { ListedWait } from "../core/transition/draft/listed-waits.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Rate } from "../core/values/shared-keys.ts";
import type { EndedSeries, ExecutionCounts, SeriesQuery } from "./execution-counts.ts";
import type { CountQuery, ExecutionSummary, ListQuery, Page } from "./execution-list.ts";
import type { KeptKeys } from "./kept-keys.ts";
import type { DefinitionLibrary, PutDefinitionOptions } from "./store-definitions.ts";
import type { PruneOptions, PruneReport, TrimOptions, TrimReport } from "./store-removal.ts";
import type { LiveWorker, WorkerBeat } from "./store-workers.ts";
import type { TransactionQuery } from "./transaction-query.ts";

/** One event of the history as the store holds it. The result of a step is part of its event. */
export interface AppendedRow {
  readonly version: number;
  /** The id of the commit that wrote the event. */
  readonly commitId: string;
  readonly event: Event;
}

/** A child as a commit writes it. The results of its steps are in the events. */
export interface ChangedChild {
  /**
   * Any text except "", which means the execution itself. A store does not parse the key; it compares keys exactly, with case. A key is
   * unique only within its execution.
   */
  readonly key: string;
  /** Null: the child is deleted. */
  readonly head: ChildHead | null;
}

/** The one atomic write of events and the new head. */
export interface Commit {
  /** The id of the execution. The id of the workflow's definition is `head.definition.id`. */
  readonly workflowId: string;
  /** The incarnation of the loaded execution: after an execution was deleted, a new one with the same id has another incarnation. */
  readonly incarnation: string;
  /** The version that must be stored before the commit; -1 for `create`. The events follow it without a gap. */
  readonly expectedVersion: number;
  /** The fence of the claim. The holder of a claim always sends it; all other writers never send one. */
  readonly fence?: number;
  /** A random id. The same commit sent twice is applied once and acknowledged twice. */
  readonly commitId: string;
  /**
   * Replaces the stored head: a field that is absent here is removed (`inbox`, `rounds`, `ending`, `error`...).
   * `definition`, `tenant`, `input` and `incarnation` never change after `create`: a store may ignore these fields in later commits.
   * `metadata` changes only with a commit that has an event which sets it; then lists find the execution by the metadata of this head.
   *
   * A store keeps every field of the head, known or not. `context`, `childStates`, `mapItems` and `compensations` are never part of the
   * head, and a store does not add them, because they grow; `restore` of `stepfold/core` makes them from the events.
   */
  readonly head: SnapshotHead;
  /** The new events. A store keeps them unchanged, with every field, including the results in `consequences` and those of children. */
  readonly events: readonly Event[];
  /**
   * The children that have changed; all others stay as they are, and a commit costs nothing for them. Default: none.
   *
   * They are applied in this order: if two have the same key, the later one counts. Each replaces the stored child as a whole. Children
   * are ordered by their creation: a child keeps its place when it changes. A child that was deleted and is put again comes last, also if
   * one commit does both. Deleting a child that does not exist does nothing.
   */
  readonly children?: readonly ChangedChild[];
  /**
   * What the execution holds at the version of the head. `load` passes the checkpoint and the later events to `restore`, so it need not
   * read the events before the checkpoint. The checkpoint replaces the stored one, and is not part of the history.
   *
   * A checkpoint that is larger than a value may be is ignored without an error: the stored one stays, and `load` only reads more events.
   * `create` never gets a checkpoint.
   */
  readonly checkpoint?: HistoryCheckpoint;
  /**
   * The open waits of the execution after this commit, by which lists find it (`ListQuery.waiting`). Absent: they stay as they are, or
   * there are none in `create`. A commit that sets metadata must give the waits again; absent then means that there are none.
   */
  readonly waits?: readonly ListedWait[];
  /** When the execution must be driven again: 0 for now, null for never. */
  readonly wakeAt: EpochMs | null;
  /** Of `create`: a deleted execution does not keep the id taken. */
  readonly reusesId?: true;
  /** The commit opens an execution again that has ended: it is refused if the execution has not ended. Ignored with `fence`. */
  readonly reopens?: true;
  /**
   * Of the second commit of a copy: the events of earlier runs were trimmed. `expectedVersion` is 0, and the events between version 0 and
   * the first event of this commit do not exist. Such a commit brings a checkpoint.
   */
  readonly afterTrim?: true;
  /** Releases the claim in the same write; a commit that ends the execution always does. Ignored without `fence`, so by others. */
  readonly release?: boolean;
  /**
   * Writes something else in the same transaction, after the commit itself: both are written, or neither. If this function rejects, nothing
   * is written, and the commit rejects: with the same error if it is a `StepfoldError`. The function is called again when an applied commit
   * is repeated: writing twice must have the same result as writing once.
   *
   * Only stores with `features.transactions` call it. All others ignore it and write nothing, so check the feature first.
   */
  readonly alongside?: (query: TransactionQuery) => Promise<void>;
}

/** The owner of a claim, and how long the claim lasts. */
export interface Lease {
  /** The name of the process that claims. */
  readonly owner: string;
  /** After this time in milliseconds without a renewal the claim runs out. */
  readonly leaseMs: number;
}

/** The right to drive one execution until the lease ends. */
export interface Claim extends Lease {
  readonly workflowId: string;
  readonly incarnation: string;
  /** The version of the execution when it was claimed. */
  readonly version: number;
  /** The approximate size of its snapshot in bytes of JSON (`snapshot.sizeBytes`), from which the holder estimates the memory of a load. */
  readonly sizeBytes: number;
  /**
   * Rises with every claim of the execution, by a random step; a write with another fence is refused. Because the step is random, claims
   * that a database has forgotten by falling back to an older state are refused too, also after the execution was claimed again.
   */
  readonly fence: number;
  /** When the claim was made, by the store's clock. This clock judges leases and due times, so the holder calculates with it. */
  readonly claimedAt: EpochMs;
  /**
   * How many claims ran out since the last commit of a holder: the processes died or were lost, or never got the answer. A claim that was
   * released does not change the number.
   */
  readonly expired: number;
  /** How many of the `expired` claims had been renewed, so their holders had begun. Others ran out for example because of a slow store. */
  readonly crashes: number;
  /**
   * At least two claims ran out before their holders began, so loading or running the execution may kill the process. A process begins
   * only one such execution at a time, and renews the claim before it loads the snapshot. So its death counts as a crash of this execution.
   */
  readonly alone?: true;
  /**
   * The execution has a concurrency key, and was claimed without one of its permits, because only time and messages are left to handle at
   * this moment: its deadline has passed, or it has messages to deliver. The holder performs no step.
   */
  readonly withoutPermit?: true;
}

/** Which executions to claim. */
export interface ClaimOptions extends Lease {
  /** The most executions to claim. */
  readonly limit: number;
  /** Only this execution. */
  readonly workflowId?: string;
  /** Only executions whose head has a `permit` with this `key`. Ignored together with `workflowId`. */
  readonly permit?: string;
  /** Only executions that have been due for at least this time, for example because a message about them was lost. Default 0. */
  readonly overdueMs?: number;
  /**
   * The present rates by the id of the workflow; null: the workflow has no rate any more. They replace limit and period of the rate in the
   * head of an execution; its key still counts. The rate in the head stays in force if the workflow is not named here, or if the execution
   * is `unnamed`.
   */
  readonly rates?: Readonly<Record<string, Pick<Rate, "limit" | "periodMs"> | null>>;
  /** Only executions of these task queues; `default` is that of executions whose head has no `taskQueue`. Absent: of all task queues. */
  readonly taskQueues?: readonly string[];
  /**
   * The hashes of definitions that the process cannot run. Their executions are not claimed: they are left to other processes, and the store
   * moves those that it meets out of the way, so that they do not delay later claims.
   */
  readonly lacks?: ReadonlySet<string>;
  /**
   * Called if the claim ends before it has looked at everything that is due, because it has moved as many out of the way (`lacks`) as one
   * call has time for. Then claim again at once.
   */
  readonly onMore?: (() => void) | undefined;
}

/** The capabilities of a store, as data. */
export interface StoreFeatures {
  /** The clock that judges leases and due times: the clock of the database, or that of each calling process. */
  readonly clock: "store" | "caller";
  /** Stored executions survive the end of the process. */
  readonly durable: boolean;
  /** Several processes may share the store. */
  readonly multiProcess: boolean;
  /**
   * The most bytes of JSON that one part of a commit may have: its head, one event, one child. A larger part is refused with
   * `LIMIT_EXCEEDED` before anything is written. Absent: the store has no such limit, or one that the limits of the engine keep far away.
   */
  readonly maxValueBytes?: number;
  /** Claims observe permits and rates of executions (see `claim`). Absent: they do not, and no head with a permit or rate may be stored. */
  readonly permits?: true;
  /**
   * Claims observe `taskQueues` and `lacks`. Absent: no head with a `taskQueue` may be stored, and a process gives back what it cannot run, and
   * parks it for a while.
   */
  readonly taskQueues?: true;
  /** `create` and `commit` call `alongside` with a function that sends SQL of this dialect. */
  readonly transactions?: "postgres";
  /** Lists take `order` and `idPrefix`, and the store has `count`, `summaries`, `ended`, `beat` and `workers`. */
  readonly lists?: true;
  /** The store has `listDefinitions`, `label` and `labels`. */
  readonly definitions?: true;
  /** The store has `keptKeys`. Absent: an execution knows its latest 2,000 idempotency keys, however old they are. */
  readonly keys?: true;
}

/**
 * Stores executions. Every adapter passes the contract in `stepfold/testing`.
 *
 * A `workflowId` is always the id of an execution. `load` and `loadHead` return null if no execution has this id.
 *
 * Any method may reject with `STORE_UNAVAILABLE` (the database did not answer; a write may have been made or not; try again), or with
 * `STORE_REJECTED` (the database refuses and will refuse again: a damaged execution, tables of another version, missing permissions).
 */
export interface SnapshotStore extends Partial<DefinitionLibrary> {
  readonly name: string;
  readonly features: StoreFeatures;
  /**
   * Stores a new execution: version 0 and the events after it. A repetition of the same commit is acknowledged.
   *
   * @returns the claim, if `claim` was given; for a repetition, only while that claim is still in force. Null for an execution that has
   * ended already, or whose head has a `permit` or a `rate`, because only `claim` counts these
   * @throws StepfoldError `LIMIT_EXCEEDED` as `commit`
   * @throws StepfoldError `WORKFLOW_EXISTS` if the id is taken, or still reserved because its execution was deleted within the retention
   * @throws StepfoldError `OPTION_INVALID` unless `leaseMs` is a whole number of at least 1
   */
  create(commit: Commit, options?: { readonly claim?: Lease }): Promise<Claim | null>;
  /** Loads the whole snapshot, all of it at one version, also during concurrent commits. Children are in order of creation. */
  load(workflowId: string): Promise<Snapshot | null>;
  /**
   * Loads the head without `input`. Reads no children, and only those events that hold large values of the head. So the call is cheap
   * however large the execution is: an execution whose snapshot kills each process that loads it can still be parked. `createdAt` is the
   * store's time of creation, as in a list.
   */
  loadHead(workflowId: string): Promise<SnapshotHead | null>;
  /**
   * Makes events, head and children visible together, or not at all. A repetition of an applied commit is acknowledged, also after the
   * claim was lost or the execution has ended. Reasons to refuse a commit are checked in the order below; then nothing is written.
   *
   * @throws StepfoldError `LIMIT_EXCEEDED` if its head, an event or a child is larger than the store can hold
   * @throws StepfoldError `VERSION_CONFLICT` if the execution does not exist, or its incarnation is another one
   * @throws StepfoldError `FENCE_LOST` if a fence was sent and is not the fence of the present claim
   * @throws StepfoldError `VERSION_CONFLICT` if `expectedVersion` is not the stored version
   * @throws StepfoldError `EXECUTION_ENDED` if the stored execution has ended
   * @throws StepfoldError `EXECUTION_OPEN` if the commit `reopens` the execution, and it has not ended
   */
  commit(commit: Commit): Promise<void>;
  /**
   * Claims executions that are due and not claimed; with `workflowId` only this execution, if it is due and not claimed.
   *
   * Order: three kinds of executions can be due: those due at once (`wakeAt` 0), those whose time has come (or whose lease has ended),
   * and those with a `permit`. Within a kind (with a permit: within a key) the longest due comes first. Which kind comes first depends on
   * the store; but if more is due than is claimed, every kind gets a share, so that none waits for ever.
   *
   * Permits: an execution with a `permit` is only claimed while fewer than `permit.limit` executions with the same `permit.key` are
   * claimed. Claims whose lease has not ended count, also those of other workflows and with other limits. The limit is exact, also if many
   * processes claim at the same time. Executions that wait for a permit do not delay others.
   *
   * Rates: the first claim of an execution with a `rate` is only made if fewer than `rate.limit` first claims with the same `rate.key` were
   * made in the last `rate.periodMs`, also of other workflows and with other limits. The limit is exact by the store's clock. If the clock
   * is the callers', periods are one second longer, because clocks may differ. While an execution waits, it does not delay others, and
   * becomes due when its first claim may be allowed. Later claims are not limited, also if the holder of the first one never began. It waits
   * until its deadline (`deadlineAt` of the head) at most: then it is claimed to end, which counts for no rate. So is, when it is named, one
   * whose end is decided already: one whose head is `closing` or `ending`, or has no path.
   *
   * Task queues and `lacks`: what a process does not take delays nothing that it takes, however much it is, and is claimed by any process
   * that takes it. Executions of one `permit.key` or `rate.key` share its limit, also in different task queues.
   *
   * A claim reads no snapshot. Its holder loads it when it has memory for `sizeBytes`, at the version of the claim or a newer one.
   *
   * @throws StepfoldError `OPTION_INVALID` unless `leaseMs` is a whole number of at least 1, and `overdueMs` a number of at least 0
   */
  claim(options: ClaimOptions): Promise<readonly Claim[]>;
  /**
   * Extends the lease of a claim, and returns the present version and status. From now on the holder counts as begun: if its claim runs out
   * without a commit or a release, that is a crash.
   *
   * `renew` and `release` store `expired` and `crashes` of the claim that they are given. A holder whose commit was acknowledged must
   * therefore pass its claim with both set to 0, or the old numbers come back. They also come back if a renewal that was sent before the
   * commit arrives after it, until the next renewal.
   *
   * @throws StepfoldError `FENCE_LOST` if the claim is no longer in force; but if the execution has ended, its last holder gets the status
   */
  renew(claim: Claim): Promise<{ readonly version: number; readonly status: Status; readonly storeNow: EpochMs }>;
  /**
   * Releases a claim. Resolves, and does nothing, for a claim that is no longer in force.
   *
   * @throws StepfoldError `VERSION_CONFLICT` if the claim is in force, but the execution was changed after `version`: the claim stays in
   * force; load the execution again and continue
   */
  release(claim: Claim, version: number): Promise<void>;
  /**
   * Returns the time by the clock that judges leases and due times. Every writer uses this clock, so the end of a wait and the time of a
   * timer are the same moment for all processes, however wrong their own clocks are.
   */
  now(): Promise<EpochMs>;
  /**
   * Returns at most `limit` events after a version, the oldest first. Empty if there are none, or if the execution does not exist. Versions
   * follow one another without a gap, but after a `trim` the first event is followed by that with which a later run began.
   */
  events(workflowId: string, afterVersion: number, limit: number): Promise<readonly AppendedRow[]>;
  /** @throws StepfoldError `OPTION_INVALID` for a limit out of range, or a cursor that this store did not return */
  list(query?: ListQuery): Promise<Page<ExecutionSummary>>;
  /**
   * Counts the executions of a query by status. Optional, like `summaries` and `ended`: without it `countExecutions` uses `list`.
   *
   * @param atMost the number at which counting a status stops; default 10,000. It limits the cost of the call
   * @throws StepfoldError `OPTION_INVALID`
   */
  count?(query?: CountQuery, atMost?: number): Promise<ExecutionCounts>;
  /** Returns the executions with these ids that exist, in any order. @throws StepfoldError `OPTION_INVALID` for more than 200 ids */
  summaries?(workflowIds: readonly string[]): Promise<readonly ExecutionSummary[]>;
  /**
   * Counts the executions that ended in each part of a period, by their duration. An execution counts once, at its present end: a restart
   * takes it out of the part in which it had ended before.
   *
   * @throws StepfoldError `OPTION_INVALID`
   */
  ended?(query: SeriesQuery): Promise<EndedSeries>;
  /** Stores a sign of life of a process; it replaces the last one. Optional, like `workers`. @throws StepfoldError `OPTION_INVALID` */
  beat?(beat: WorkerBeat): Promise<void>;
  /** Returns the processes that count as alive, sorted by name. A dead process is listed until its last sign of life runs out. */
  workers?(): Promise<readonly LiveWorker[]>;
  /**
   * Deletes an ended execution with its history and its children. Its id stays taken for the store's retention (30 days by default).
   *
   * @throws StepfoldError `EXECUTION_OPEN` if it has not ended, `WORKFLOW_NOT_FOUND`
   */
  delete(workflowId: string): Promise<void>;
  /** Deletes executions that ended before a time, the oldest first. @throws StepfoldError `OPTION_INVALID` */
  prune(options: PruneOptions): Promise<PruneReport>;
  /**
   * Deletes the events of earlier runs of executions, open or ended: those between the first event and the one with which the present run
   * began (`head.run.since`). Nothing else changes. A late repetition of a commit whose events are deleted is not recognised any more, and
   * gets `VERSION_CONFLICT`: whether it was applied cannot be told any more.
   *
   * @throws StepfoldError `OPTION_INVALID`
   */
  trim(options: TrimOptions): Promise<TrimReport>;
  /** The older idempotency keys of executions. */
  readonly keptKeys?: KeptKeys;
  /** Stores a definition under its hash for ever. A stored definition stays as it is: the same hash means the same definition. */
  putDefinition(hash: string, definition: WorkflowDefinition, options?: PutDefinitionOptions): Promise<void>;
  getDefinition(hash: string): Promise<WorkflowDefinition | null>;
  /**
   * Waits for running calls, half a minute at most, and closes what the store opened itself. Safe to call twice; every other call
   * afterwards rejects with `STORE_UNAVAILABLE`.
   */
  close(): Promise<void>;
}
