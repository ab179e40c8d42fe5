/// <reference lib="esnext.disposable" preserve="true" />
import type { Duration, WorkflowDefinition } from "../core/definition/definition.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Limits } from "../core/values/limits.ts";
import type { GlobalsOf, NodeDefinitions } from "../engine/node-definition.ts";
import type { Plugin } from "../engine/plugin.ts";
import type { StartOptions } from "../engine/started.ts";
import type { Environment } from "../ports/environment.ts";
import type { PruneReport, SnapshotStore } from "../ports/snapshot-store.ts";
import type { WorkQueue } from "../ports/work-queue.ts";
import type { Run } from "./handle/run.ts";
import type { PruneWithHistoryOptions } from "./retention/prune.ts";

/** What a runtime is made of. */
export interface RuntimeOptions<D extends NodeDefinitions = NodeDefinitions> {
  /** Yours to open and to close. */
  readonly store: SnapshotStore;
  /** The definitions that can be started here; plain JSON. */
  readonly workflows?: readonly unknown[];
  readonly nodeDefinitions: D;
  /** Secrets and services for executors and expressions; never stored. */
  readonly globals?: GlobalsOf<D> | undefined;
  /**
   * Tells workers what is due. Yours to open and to close. It is only a hint: what it loses is found in the store, by the
   * first poll half a second later. Default: none, every process that drives asks the store.
   */
  readonly queue?: WorkQueue;
  /** Whether this process drives executions from the beginning. Default true. With false it only hands over, until `work`. */
  readonly drive?: boolean;
  /** How long an execution stays with a process that shows no sign of life. Default 30 s. */
  readonly leaseMs?: number;
  /** How often the store is asked for due executions that others left. Default 1 s. */
  readonly pollMs?: number;
  /** Paths of one execution performed at once. Default 16. */
  readonly concurrency?: number;
  /**
   * Executions driven at once. Default 100. What is started or resumed beyond that is stored, and driven when there is
   * room, here or elsewhere. A part is kept for what is found in the store; with a queue there are at least two.
   */
  readonly maxExecutions?: number;
  /**
   * Processes that may die over one execution in a row, or lose it, before it is parked: it then rests until somebody says
   * `retry`. Any commit of whoever drives it starts the count anew. Default 5; `Infinity` for never.
   */
  readonly maxCrashes?: number;
  /** Name of this process in claims. Default: random. */
  readonly owner?: string;
  readonly limits?: Partial<Limits>;
  /** Longest time of one attempt where neither node nor type says, in milliseconds. Default: 10 minutes. */
  readonly stepTimeoutMs?: number;
  /**
   * How long ended executions are kept, in milliseconds or as text ("30d", "PT12H"): one for all, or one for each id of a
   * workflow; those of others are kept for ever, which is the default. A process that drives deletes what is older when it
   * begins and every ten minutes from then on, some thousand at a time, the oldest first.
   */
  readonly retention?: Duration | Readonly<Record<string, Duration>>;
  readonly plugins?: readonly Plugin[];
  readonly environment?: Environment;
  /** Told of what goes wrong in the background: a store that does not answer, an execution whose node types are missing here. */
  readonly onProblem?: (workflowId: string | null, error: unknown) => void;
}

/** What one turn came to. */
export interface Advanced {
  /** False if the execution was not due, or somebody else holds it. */
  readonly advanced: boolean;
  readonly snapshot: Snapshot;
  /** When it is due again; 0 for now, null for not by itself. */
  readonly wakeAt: EpochMs | null;
}

/** How to work. */
export interface WorkOptions {
  /** Executions driven at once. Default: `maxExecutions` of the runtime. */
  readonly concurrency?: number;
}

/** A runtime that works. */
export interface Worker {
  /**
   * Takes no more executions, begins no more steps, waits for those under way (`timeoutMs`, default 30 s, at most) and
   * gives the claims back, so that others go on at once. The runtime can still start and resume. Safe to call twice.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/** Durable executions: an engine, a store, and whoever drives. */
export interface Runtime {
  /**
   * Starts an execution. It is committed when this resolves. Starting the same id with the same input again gives the
   * execution there is.
   *
   * @throws StepfoldError `START_CONFLICT` if the id was started with another workflow or input; `DEFINITION_UNKNOWN`,
   * `INPUT_INVALID`, `START_AMBIGUOUS`, `WORKFLOW_EXISTS` (it was deleted lately), `STORE_UNAVAILABLE`, ...
   */
  start(workflow: string | WorkflowDefinition, options?: Omit<StartOptions, "externalPayload">): Promise<Run>;
  /** @throws StepfoldError `WORKFLOW_NOT_FOUND` */
  get(workflowId: string): Promise<Run>;
  /**
   * One turn: claims the execution, does what is due, gives it back. For serverless handlers, which have no process
   * that waits.
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`
   */
  advance(workflowId: string): Promise<Advanced>;
  /**
   * Begins to drive executions: what is due in the store, what the queue tells of, and what is started here. For a
   * runtime that was created with `drive: false`.
   *
   * ```ts
   * const worker = runtime.work({ concurrency: 50 });
   * process.once("SIGTERM", () => worker.stop());
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID` if it drives already, `RUNTIME_CLOSED`
   */
  work(options?: WorkOptions): Worker;
  /**
   * Deletes executions that ended a while ago, the oldest first, at most `limit` (default 1,000) of them. With `keepEvents`
   * the history of each is handed over before that: reading, keeping and deleting are one after the other, so several
   * processes that do so at once only give the same twice.
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
  /** Begins no more steps, waits for those under way (`timeoutMs`, default 30 s, at most), gives the claims back. */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
