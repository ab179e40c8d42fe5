/// <reference lib="esnext.disposable" preserve="true" />
import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { EndedSeries, ExecutionCounts, SeriesQuery } from "../ports/execution-counts.ts";
import type { CountQuery, ExecutionSummary, ListQuery, Page, PruneReport } from "../ports/snapshot-store.ts";
import type { DefinitionQuery, StoredDefinition } from "../ports/store-definitions.ts";
import type { LiveWorker } from "../ports/store-workers.ts";
import type { BroadcastOptions, BroadcastReport } from "./bulk/broadcast.ts";
import type { BulkAction, BulkOptions, BulkOutcome } from "./bulk/bulk.ts";
import type { Schedules } from "./context/schedules.ts";
import type { RuntimeDescription } from "./describe.ts";
import type { AdoptOptions } from "./forks/fork.ts";
import type { Run } from "./handle/run.ts";
import type { StartRunOptions } from "./handle/start-run.ts";
import type { PruneWithHistoryOptions } from "./retention/prune.ts";
import type { SweepOptions, SweepReport } from "./worker/sweep.ts";

/** What `advance` has done. */
export interface Advanced {
  /** False if the execution was not due, another process holds it, or there was no room to load it (`maxLoadedBytes`). */
  readonly advanced: boolean;
  readonly snapshot: Snapshot;
  /** When it is due again; 0 for now, null for not by itself. */
  readonly wakeAt: EpochMs | null;
}

/** How to work. */
export interface WorkOptions {
  /** Executions run at once. Default: `maxExecutions` of the runtime. */
  readonly concurrency?: number;
}

/** A runtime that works. */
export interface Worker {
  /**
   * Takes no more executions, begins no more steps, waits for those in flight (at most `timeoutMs`, default 30 s) and gives
   * the claims back, so that other processes go on at once. The runtime can still start and resume. Safe to call twice.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/** Durable executions: an engine, a store, and a worker that runs what is due. */
export interface Runtime {
  /**
   * Starts an execution. It is committed when this resolves. Starting the same id with the same input again gives the
   * existing execution, or what that was restarted as.
   *
   * A definition that is handed over is run as it is, and gets no name here: it does not take the place of a workflow of the
   * options that has the same id, and nothing else can start it.
   *
   * @throws StepfoldError `START_CONFLICT` if the id was started with another workflow, definition or input, or by another
   * execution; `DEFINITION_UNKNOWN`,
   * `INPUT_INVALID`, `START_AMBIGUOUS`, `WORKFLOW_EXISTS` (it was deleted lately), `STORE_UNAVAILABLE`, ...
   */
  start(workflow: string | WorkflowDefinition, options?: StartRunOptions): Promise<Run>;
  /**
   * Takes an execution into the store that was driven without one: a snapshot that `engine.execute` gave, or one of another engine that
   * names the node where it stands. It goes on as if it had always been here; called again with the same snapshot, it gives the same execution.
   *
   * ```ts
   * const run = await runtime.adopt("order", await oldStore.load("order-7"));
   * await run.resume({ payload: { approved: true } });
   * ```
   *
   * @throws StepfoldError `SNAPSHOT_INVALID`, `DEFINITION_CHANGED` if it stands at a node that the workflow lacks; `FORK_REFUSED` if it
   * has ended; `START_CONFLICT` if there is another execution with its id; `DEFINITION_UNKNOWN`
   */
  adopt(workflow: string | WorkflowDefinition, snapshot: unknown, options?: AdoptOptions): Promise<Run>;
  /** @throws StepfoldError `WORKFLOW_NOT_FOUND` */
  get(workflowId: string): Promise<Run>;
  /**
   * Does the same to many executions, one after the other, and says of each what has become of it.
   *
   * ```ts
   * const where = { definitionId: "order", metadata: { country: "at" } };
   * for await (const { workflowId, outcome, error } of runtime.bulk({ action: "restart" }, { where, dryRun: true })) {
   *   console.log(workflowId, outcome, error?.message); // "planned", or "refused" with the reason
   * }
   * ```
   *
   * One that refuses does not keep the others from it. Ended half way, by `break` or a crash, it can be called again: what was cancelled or
   * answered is not found again, a restart or a fork is not made twice, and a signal with an `idempotencyKey` counts once.
   *
   * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `STORE_UNAVAILABLE`, `RUNTIME_CLOSED`: the executions that were not told of are left alone
   */
  bulk(action: BulkAction, options?: BulkOptions): AsyncGenerator<BulkOutcome, void, void>;
  /**
   * Sends a signal to all executions that wait for it under a key, in sub-workflows and items of maps, too: one signal to each, which lets its oldest
   * wait go on. What begins to wait meanwhile may get it or not; unlike `run.signal` nobody keeps it for later.
   *
   * ```ts
   * const { reached, refused } = await runtime.broadcast("price-changed", { price: 12 }, { key: "article-7", idempotencyKey: "event-4711" });
   * console.log(reached.length, refused[0]?.error.message);
   * ```
   *
   * It reaches what lists find (`list({ waiting })`): of an execution with more than 100 waits at once, those that lists know. One that does not take the
   * payload, or that somebody has damaged, does not keep the others from it: it is among `refused`. Ended half way by a crash or a store that does not answer, it can be called
   * again: with the same `idempotencyKey` it counts once for each execution, also if that waits for the same once more.
   *
   * @throws StepfoldError `LIMIT_EXCEEDED` if more wait for it than the limit `receivers` (1,000): then nobody has it; narrow `where`, or use
   * `bulk`, which has no limit. `OPTION_INVALID`, also where an encrypted store has no `searchKey`; `OPTION_UNKNOWN`, `STORE_UNAVAILABLE`, `RUNTIME_CLOSED`
   */
  broadcast(name: string, payload: unknown, options: BroadcastOptions): Promise<BroadcastReport>;
  /**
   * What this runtime was made with: workflows that it can start, and node types with the JSON Schemas of their data and payloads. Plain JSON,
   * for editors and forms.
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
   * Claims the execution, performs what is due, and gives it back. For serverless handlers, which have no process that
   * waits.
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`
   */
  advance(workflowId: string): Promise<Advanced>;
  /**
   * Runs what is due, for a bounded time, and says what it did and what is left. For platforms on which no process waits: called every
   * minute, by a cron job, it alone advances everything. With a queue it takes what the queue should have delivered half a second ago.
   *
   * ```ts
   * const { advanced, isMore } = await runtime.sweep({ timeoutMs: 25_000 });
   * ```
   *
   * It ends before `timeoutMs`, also if the store does not answer. In the last quarter no step is begun; then steps under way get their
   * `AbortSignal`, and what is left is given back and sent on to the queue, if there is one. Afterwards nothing runs: no poll, no timer, no
   * claim. A step that was cut off is performed again by the next sweep; if it had half of the time and more, five times in a row, its execution is
   * parked (`maxCrashes`). Several processes may sweep at once: each execution is run by one of them.
   *
   * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `RUNTIME_CLOSED`; `STORE_UNAVAILABLE` if nothing could be claimed
   */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /**
   * Begins to run executions: those due in the store, those that the queue has messages of, and those started here. For a
   * runtime that was created with `drive: false`.
   *
   * ```ts
   * const worker = runtime.work({ concurrency: 50 });
   * process.once("SIGTERM", () => worker.stop());
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID` if it works already, `RUNTIME_CLOSED`
   */
  work(options?: WorkOptions): Worker;
  /**
   * Executions of the store, newest first, a page at a time.
   *
   * ```ts
   * const { items, nextCursor } = await runtime.list({ status: ["paused"], metadata: { customer: "ada" }, limit: 20 });
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  list(query?: ListQuery): Promise<Page<ExecutionSummary>>;
  /**
   * Counts executions by their status, at most `atMost` of each (default 10,000). A store that cannot count looks at 20,000 at most, and
   * `complete` says whether that were all.
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  count(query?: CountQuery, atMost?: number): Promise<ExecutionCounts>;
  /** Those of at most 200 ids that are there, in any order. @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE` */
  summaries(workflowIds: readonly string[]): Promise<readonly ExecutionSummary[]>;
  /**
   * How many executions ended in each part of a time, and how long they took, by the eleven classes of `durationBoundsMs`.
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  ended(query: SeriesQuery): Promise<EndedSeries>;
  /**
   * The processes that run executions of the store, by their names: those that tell it (`beatMs`) and are alive. One that has died is among them
   * until its last sign of life has run out. `owner` is that of the `lease` in a list.
   *
   * @throws StepfoldError `STORE_UNAVAILABLE`
   */
  workers(): Promise<readonly LiveWorker[]>;
  /**
   * The definitions that the store has, those put last first: versions of one workflow with `id`, at most 50, else of all, at most `limit` (default
   * 100). A definition that has a name in a runtime is put when the first execution of it starts; one that was only handed to `start` is not listed. None of a
   * store without `features.definitions`.
   *
   * ```ts
   * const [newest] = await runtime.definitions({ id: "order" });
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID`, `STORE_UNAVAILABLE`
   */
  definitions(query?: DefinitionQuery): Promise<readonly StoredDefinition[]>;
  /**
   * Deletes executions that ended a while ago, the oldest first, at most `limit` (default 1,000) of them. With `keepEvents`
   * the history of each is handed over before it is deleted. Several processes may prune at once: the same history is then
   * handed over twice.
   *
   * ```ts
   * const yesterday = Date.now() - 24 * 60 * 60 * 1000;
   * await runtime.prune({ before: yesterday, keepEvents: ({ workflowId, events }) => archive.put(workflowId, JSON.stringify(events)) });
   * ```
   *
   * @returns how many were deleted here, or would be with `dryRun`
   * @throws StepfoldError `OPTION_INVALID`, `RUNTIME_CLOSED`, `STORE_UNAVAILABLE`; and what `keepEvents` throws
   */
  prune(options: PruneWithHistoryOptions): Promise<PruneReport>;
  /**
   * Begins no more steps, waits for those in flight (at most `timeoutMs`, default 30 s), and gives the claims back. Whatever still
   * waits then for a result, or watches, gets `RUNTIME_CLOSED`.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
