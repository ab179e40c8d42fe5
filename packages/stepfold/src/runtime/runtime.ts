/// <reference lib="esnext.disposable" preserve="true" />
import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { ImportedWorkflow, OnlyImported } from "../core/definition/imported-workflow.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import type { PayloadTypes, Typed } from "../engine/node/typed.ts";
import type { EndedSeries, ExecutionCounts, SeriesQuery } from "../ports/execution-counts.ts";
import type { CountQuery, ExecutionSummary, ListQuery, Page } from "../ports/execution-list.ts";
import type { DefinitionQuery, StoredDefinition } from "../ports/store-definitions.ts";
import type { LiveWorker } from "../ports/store-workers.ts";
import type { BroadcastOptions, BroadcastReport } from "./bulk/broadcast.ts";
import type { BulkAction, BulkOptions, BulkOutcome } from "./bulk/bulk.ts";
import type { Caller } from "./callers/caller.ts";
import type { Schedules } from "./context/schedules.ts";
import type { RuntimeDescription } from "./describe.ts";
import type { AdoptOptions } from "./forks/fork.ts";
import type { Run } from "./handle/run.ts";
import type { StartRunOptions, StartTypedOptions } from "./handle/start-run.ts";
import type { PruneWithHistoryOptions, PruneWithHistoryReport } from "./retention/prune.ts";
import type { SweepOptions, SweepReport } from "./worker/sweep.ts";

/** What `advance` has done. */
export interface Advanced {
  /** False if the execution was not due, another process holds it, or there was no room to load it (`maxLoadedBytes`). */
  readonly advanced: boolean;
  readonly snapshot: Snapshot;
  /** When the execution is due again: 0 for at once, null if it is not due by itself. */
  readonly wakeAt: EpochMs | null;
}

/** Options of a worker. */
export interface WorkOptions {
  /** The most executions that run at the same time. Default: `maxExecutions` of the runtime. */
  readonly concurrency?: number | undefined;
}

/** The worker of a runtime. */
export interface Worker {
  /**
   * Takes no more executions, begins no more steps, waits for those in flight (at most `timeoutMs`, default 30 s) and gives
   * the claims back, so that other processes go on at once. Steps that are not done by then are aborted, and their claims end with the
   * leases. The runtime can still start and resume. Safe to call twice.
   */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<void>;
}

/** The calls of a runtime that start, read and move executions. `runtime.scoped` makes them for one tenant or one person. */
export interface ScopedRuntime {
  /**
   * Starts an execution, which is committed when this resolves. A second start with the same id and input returns the existing
   * execution, or the one that goes on in its place after a restart or `continueAs`.
   *
   * If you pass a definition instead of an id, it is run as it is. It does not replace a workflow of the option `workflows` with the same
   * id, and no other call can start it by its id.
   *
   * @throws StepfoldError `START_CONFLICT` if the id was started with another workflow, definition or input, or by another
   * execution; `DEFINITION_UNKNOWN`, `INPUT_INVALID`, `START_AMBIGUOUS`, `WORKFLOW_EXISTS` (an execution with this id was deleted
   * less than the store's `idempotencyRetentionMs` ago), `STORE_UNAVAILABLE`, ...
   */
  start<const W extends ImportedWorkflow>(workflow: W & OnlyImported<W>, options?: StartRunOptions): Promise<Run>;
  start(workflow: string, options?: StartRunOptions): Promise<Run>;
  start(workflow: string | WorkflowDefinition, options?: StartRunOptions): Promise<Run>;
  start<Out = Json, Waits = PayloadTypes, Signals = PayloadTypes>(
    workflow: string | WorkflowDefinition | Typed<null, Out, Waits, Signals, never>,
  ): Promise<Run<Out, Waits, Signals>>;
  // compilers explain a mistake by the last signature, so it takes all kinds of workflows
  start<In = unknown, Out = Json, Waits = PayloadTypes, Signals = PayloadTypes>(
    workflow: string | WorkflowDefinition | Typed<In, Out, Waits, Signals, never>,
    options: StartTypedOptions<NoInfer<In>>,
  ): Promise<Run<Out, Waits, Signals>>;
  /**
   * Takes an execution that was kept elsewhere into the store of this runtime: a snapshot from `engine.execute`, or one from another engine
   * that names the node where the execution stands. The execution goes on as if it had always been in the store. A second call with the
   * same snapshot returns the same execution.
   *
   * ```ts
   * const run = await runtime.adopt("order", await oldStore.load("order-7"), { tenant: "acme" });
   * await run.resume({ payload: { approved: true } });
   * ```
   *
   * @throws StepfoldError `SNAPSHOT_INVALID`, also if the snapshot names another tenant than the option `tenant`; `OPTION_INVALID` if it
   * names a tenant and you name none; `DEFINITION_CHANGED` if the execution stands at a node that the workflow lacks; `FORK_REFUSED` if it
   * has ended or is ending; `START_CONFLICT` if there is another execution with its id; `DEFINITION_UNKNOWN`
   */
  adopt<const W extends ImportedWorkflow>(workflow: W & OnlyImported<W>, snapshot: unknown, options?: AdoptOptions): Promise<Run>;
  adopt(workflow: string | WorkflowDefinition, snapshot: unknown, options?: AdoptOptions): Promise<Run>;
  /**
   * Returns a handle of an existing execution; with a typed workflow, a handle with its types.
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`; `OPTION_INVALID` if it is an execution of another workflow than the one given
   */
  get(workflowId: string): Promise<Run>;
  get<Out, Waits, Signals>(workflowId: string, workflow: Typed<never, Out, Waits, Signals, never>): Promise<Run<Out, Waits, Signals>>;
  /**
   * Applies one action to many executions, one after the other, and yields the outcome of each.
   *
   * ```ts
   * const where = { definitionId: "order", metadata: { country: "at" } };
   * for await (const { workflowId, outcome, error } of runtime.bulk({ action: "restart" }, { where, dryRun: true })) {
   *   console.log(workflowId, outcome, error?.message); // "planned", or "refused" with the reason
   * }
   * ```
   *
   * An execution that refuses the action does not affect the others. If the call ends half way, by `break` or a crash, it can be made
   * again: executions that were cancelled or answered are not found again, a restart or a fork is not made twice, and a signal with an
   * `idempotencyKey` counts once.
   *
   * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `STORE_UNAVAILABLE`, `RUNTIME_CLOSED`: the executions after the last outcome
   * are not processed
   */
  bulk(action: BulkAction, options?: BulkOptions): AsyncGenerator<BulkOutcome, void, void>;
  /**
   * Sends a signal to all executions that wait for this signal with this key, also in sub-workflows and items of maps. Each execution gets
   * one signal, which answers its oldest wait. An execution that begins to wait meanwhile may get the signal or not. Unlike with
   * `run.signal`, the signal is not kept for later.
   *
   * ```ts
   * const { reached, refused } = await runtime.broadcast("price-changed", { price: 12 }, { key: "article-7", idempotencyKey: "event-4711" });
   * console.log(reached.length, refused[0]?.error.message);
   * ```
   *
   * It reaches the executions that `list({ waiting })` finds. If an execution has more than 100 open waits, lists know only some of them,
   * and the call may miss the others. An execution that refuses the payload, or whose data are damaged, is listed in `refused` and does not
   * affect the others. If the call ends half way, because of a crash or a store that does not answer, it can be made again: with the same
   * `idempotencyKey` the signal counts once for each execution, even if the execution waits for the same signal once more.
   *
   * @throws StepfoldError `LIMIT_EXCEEDED` if more executions wait for it than the limit `receivers` allows (1,000): then none of them gets
   * it; narrow `where`, or use `bulk`, which has no limit. `OPTION_INVALID`, also if an encrypted store has no `searchKey`;
   * `OPTION_UNKNOWN`, `STORE_UNAVAILABLE`, `RUNTIME_CLOSED`
   */
  broadcast(name: string, payload: unknown, options: BroadcastOptions): Promise<BroadcastReport>;
  /**
   * Describes this runtime: the workflows that it can start, and its node types with the JSON Schemas of their data and payloads. Plain
   * JSON, for editors and forms.
   *
   * ```ts
   * const { nodeTypes } = runtime.describe();
   * nodeTypes.find(({ type }) => type === "approval")?.resume; // { type: "object", properties: { approved: ... } }
   * ```
   */
  describe(): RuntimeDescription;
  /**
   * Makes and changes schedules. Without the option `schedules` every call is refused with `OPTION_INVALID`.
   */
  readonly schedules: Schedules;
  /**
   * Lists the executions of the store, newest first, a page at a time.
   *
   * ```ts
   * const { items, nextCursor } = await runtime.list({ status: ["paused"], metadata: { customer: "ada" }, limit: 20 });
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  list(query?: ListQuery): Promise<Page<ExecutionSummary>>;
  /**
   * Counts executions by their status, at most `atMost` of each (default 10,000). For a store that cannot count, at most 20,000 executions
   * are looked at, and `complete` says whether these were all.
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  count(query?: CountQuery, atMost?: number): Promise<ExecutionCounts>;
  /**
   * Returns the executions with these ids, at most 200, in any order. Ids without an execution are left out. A store without
   * `features.lists` finds only those among its newest 20,000.
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  summaries(workflowIds: readonly string[]): Promise<readonly ExecutionSummary[]>;
}

/** Durable executions: an engine, a store, and a worker that runs what is due. */
export interface Runtime extends ScopedRuntime {
  /**
   * Returns the calls of this runtime for one tenant, for one person, or both.
   *
   * ```ts
   * const acme = runtime.scoped({ tenant: "acme", by: "ada" });
   * const run = await acme.start("order", { workflowId: "order-7" }); // another tenant may have an order-7 too
   * await acme.get("order-7"); // the same one; what belongs to another tenant is WORKFLOW_NOT_FOUND
   * await run.cancel({ reason: "sold out" }); // the event says that ada did
   * ```
   *
   * With `tenant`, every call is about executions of this tenant: it starts them for the tenant, finds and lists no others, and refuses to
   * name another one. Ids get the tenant in front (`run.workflowId` is `"acme"/order-7`), so that no tenant can take, find or guess the id
   * of another; a call takes both forms. The same is true of what these executions start and signal, and of the names of schedules. An
   * execution that was started with the option `tenant`, but not by such a runtime, keeps its id, and is found under it.
   *
   * With `by`, every start, command, fork and restart has this name in its event (`who`). No call may give another one.
   *
   * It costs no read and no commit more than the call of the runtime itself, and nothing has to be closed.
   *
   * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
   */
  scoped(caller: Caller): ScopedRuntime;
  /**
   * Claims the execution, performs what is due, and gives the claim back. For serverless handlers, where no process keeps
   * running.
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`, `RUNTIME_CLOSED`; `OPTION_INVALID` if the runtime has no node definitions
   */
  advance(workflowId: string): Promise<Advanced>;
  /**
   * Runs what is due for a limited time, and reports what it did and what is left. For platforms on which no process keeps running: a cron
   * job that calls it every minute is enough to advance all executions. If the runtime has a queue, the queue delivers what is due: then a
   * sweep takes only executions that have been due for half a second, because the queue has missed them, and those that the option
   * `wakeUps` names.
   *
   * ```ts
   * const { advanced, isMore } = await runtime.sweep({ timeoutMs: 25_000 });
   * ```
   *
   * It ends after `timeoutMs` at the latest, even if a step ignores its signal or a commit gets no answer. In the last quarter of this time
   * no step is begun. Shortly before the end, steps under way are aborted by their `AbortSignal`; claims on what is left are given back,
   * and the queue, if there is one, gets messages for it. Afterwards nothing of it runs in this process: no poll and no timer. A claim that
   * the store did not take back ends with its lease. A step that was aborted is performed again by the next sweep. If it is aborted five
   * times in a row (`maxCrashes`), each time after at least half of `timeoutMs`, its execution is parked: it does not go on until it is
   * retried. Several processes may sweep at the same time: each execution is run by one of them.
   *
   * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `RUNTIME_CLOSED`; `STORE_UNAVAILABLE` if the first claim fails
   */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /**
   * Begins to run executions: those that are due in the store, those that messages of the queue name, and those that are started
   * here. For a runtime that was created with `drive: false`.
   *
   * ```ts
   * const worker = runtime.work({ concurrency: 50 });
   * process.once("SIGTERM", () => worker.stop());
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID` if it works already or has no node definitions, `DEFINITION_INVALID`, `RUNTIME_CLOSED`
   */
  work(options?: WorkOptions): Worker;
  /**
   * Counts the executions that ended in each part of a period, and how long they took, in the eleven classes of `durationBoundsMs`. For
   * a store that cannot count, at most 20,000 executions are looked at, and `complete` says whether these were all.
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  ended(query: SeriesQuery): Promise<EndedSeries>;
  /**
   * Lists the processes that run executions of the store, by their names: those that report it (`beatMs`) and are alive. A process that has
   * died stays in the list until the time for which its last report counts has passed. `owner` is the same name as in the `lease` of a
   * list.
   *
   * @throws StepfoldError `STORE_UNAVAILABLE`
   */
  workers(): Promise<readonly LiveWorker[]>;
  /**
   * Lists the definitions in the store, the latest first. With `id`, these are the versions of one workflow, at most 50; else
   * the definitions of all workflows, at most `limit` (default 100). A definition that has a name in a runtime is put when its first
   * execution starts; one that was only handed to `start` is not listed. A store without `features.definitions` lists none.
   *
   * ```ts
   * const [newest] = await runtime.definitions({ id: "order" });
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  definitions(query?: DefinitionQuery): Promise<readonly StoredDefinition[]>;
  /**
   * Deletes executions that ended a while ago, the oldest first, at most `limit` (default 1,000) of them; and, of at most as many others,
   * the events of earlier runs (`continueAs`) that did, unless `statuses` is given. With `keepEvents` the history of each is handed over
   * before it is deleted. Several processes may prune at the same time: then the same history may be handed over twice.
   *
   * ```ts
   * const yesterday = Date.now() - 24 * 60 * 60 * 1000;
   * await runtime.prune({ before: yesterday, keepEvents: ({ workflowId, events }) => archive.put(workflowId, JSON.stringify(events)) });
   * ```
   *
   * @returns how many were deleted here, or would be with `dryRun`
   * @throws StepfoldError `OPTION_INVALID`, `RUNTIME_CLOSED`, `STORE_UNAVAILABLE`; and what `keepEvents` throws
   */
  prune(options: PruneWithHistoryOptions): Promise<PruneWithHistoryReport>;
  /**
   * Ends the worker as `Worker.stop` does (`timeoutMs`: default 30 s). Calls that still wait for a result, or watch, then reject with
   * `RUNTIME_CLOSED`.
   */
  close(options?: { readonly timeoutMs?: number | undefined }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
