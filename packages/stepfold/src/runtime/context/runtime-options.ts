import {
  aBound,
  aFlag,
  aFunction,
  aList,
  aListOfObjects,
  aListOfTexts,
  anEnvironment,
  anObject,
  anything,
  aPeriod,
  aStore,
  aText,
  having,
  must,
  type OptionCheck,
  orNull,
} from "../../core/values/check-arguments.ts";
import type { Duration } from "../../core/values/duration.ts";
import { areTaskQueues } from "../../core/values/ids/id.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { ActionPolicy } from "../../engine/attempt/may.ts";
import { aLogger, type Logger } from "../../engine/logger.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { NeededGlobals } from "../../engine/node/typed.ts";
import type { Plugin } from "../../engine/plugin.ts";
import type { Environment } from "../../ports/environment.ts";
import type { EventFeed } from "../../ports/event-feed.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import type { GlobalsFor } from "./allowed-globals.ts";
import type { SchedulesPart } from "./schedule-host.ts";

/** The checks of all options. Times and bounds are checked where they are read. */
export const runtimeOptionChecks: { readonly [K in keyof RuntimeOptions]-?: OptionCheck } = {
  ...{
    store: aStore,
    workflows: aList,
    nodeDefinitions: anObject,
    globals: anObject,
    secrets: aListOfTexts,
    globalsFor: anything,
    may: anything,
  },
  queue: orNull(having("a queue, such as natsQueue(manager)", ["send", "consume"])),
  feed: orNull(having("a feed, such as redisFeed(client)", ["publish", "listen"])),
  schedules: orNull(having("schedules({ ... }) of stepfold/schedules", ["open"])),
  taskQueues: must("be a list of 1 to 100 names of letters, digits, _ and -", areTaskQueues),
  ...{ drive: aFlag, leaseMs: aPeriod, pollMs: aPeriod, concurrency: anything, beatMs: anything, stepTimeoutMs: anything },
  ...{ maxExecutions: anything, maxCrashes: aBound, maxLoadedBytes: aBound, checkpointBytes: aBound, limits: anObject },
  ...{ owner: aText, retention: anything, plugins: aListOfObjects, environment: anEnvironment, logger: aLogger, keepStacks: aFlag },
  onProblem: aFunction,
};

/** The options of a runtime. */
export interface RuntimeOptions<D extends NodeDefinitions = NodeDefinitions, W = unknown> {
  /** The store of the executions. You open it and close it. */
  readonly store: SnapshotStore;
  /** The workflows that can be started here by their ids: definitions as plain JSON, and what `defineDurable` and `defineWorkflow` have made. */
  readonly workflows?: readonly W[] | undefined;
  /**
   * The code of the node types. A typed workflow brings that of its own types. A process with `drive: false` needs no code, or only a part of it: it can start, answer, signal, cancel, retry,
   * fork, restart, list and watch executions without the code of their nodes.
   */
  readonly nodeDefinitions?: D | undefined;
  /** Secrets and services for executors and expressions; never stored. */
  readonly globals?: NeededGlobals<D, W> | undefined;
  /**
   * Paths into `globals` of texts that are secrets although neither their names nor their looks tell, such as `["stripe", "mail.password"]`. A
   * path to an object or a list means all texts in it. Secrets are removed from messages of errors, logs and hooks, and from sentences of
   * `explain`; never from data, outputs and history. A path that leads to no text of at least 6 characters is `OPTION_INVALID`. Default: none;
   * texts whose names (`apiKey`, `password`) or looks (`sk_live_…`) tell are secrets anyway.
   */
  readonly secrets?: readonly string[] | undefined;
  /**
   * The names of the globals that the expressions and nodes of a workflow may read, by the id of the workflow. The key `"*"` is for all
   * other workflows, and for definitions that were handed to `start`. Without `"*"`, other workflows read all globals, and definitions that
   * were handed to `start` read none. An expression that names another global is `GLOBAL_DENIED`. Default: all globals for all.
   *
   * ```ts
   * const options = { globals: { stripe, mail }, globalsFor: { billing: ["stripe"], "*": ["mail"] } };
   * ```
   */
  readonly globalsFor?: GlobalsFor | undefined;
  /**
   * Judges what a definition wants to do to another execution, before it is done: start one (node type `workflow` with `detached`), or send
   * signals (`sendSignal`). Only `true` allows it; any other value, or an error, makes the node fail with `ACTION_DENIED`. A permission is
   * recorded in the event, and is not asked for again. Default: a definition may start every workflow of `workflows`, and may send signals
   * to the execution itself, to its parent and to executions that it has begun.
   */
  readonly may?: ActionPolicy | undefined;
  /**
   * Tells workers which executions are due. You open it and close it. Messages are only hints: an execution whose message is
   * lost is found by the first poll of the store after it has been due for half a second. Default: none; every worker polls the store.
   */
  readonly queue?: WorkQueue | undefined;
  /**
   * Tells all processes on the store at once which executions have become due, have opened a wait, have ended or were parked. Then workers
   * without a queue claim, and `result`, `settled`, `waitFor` and `watch` see the change, without waiting for the next poll. You open it
   * and close it. Notices are only hints: without a feed, or while it is silent, polls find everything. Default: none.
   */
  readonly feed?: EventFeed | undefined;
  /**
   * Whether this process runs executions from the beginning. Default true. False: it only stores them until `work`, `sweep` or `advance`.
   */
  readonly drive?: boolean | undefined;
  /**
   * The task queues whose executions this process runs, such as `["gpu"]`; `"default"` is that of executions that name none. An execution gets
   * its task queue when it starts: from the option `taskQueue` of `start`, else from `taskQueue` of its workflow. Commands, lists and starts
   * are not limited. Default: the executions of all task queues, as far as the process has their code.
   */
  readonly taskQueues?: readonly string[] | undefined;
  /** How long a process keeps an execution without a sign of life, in whole milliseconds, at most 24 days. Default 30,000. */
  readonly leaseMs?: number | undefined;
  /**
   * The time between two polls of the store, in milliseconds: for executions that are due and held by no process, and for changes of
   * executions for which callers here wait. A whole number, at most 24 days. Default 1,000.
   */
  readonly pollMs?: number | undefined;
  /** The most paths of one execution that are performed at once. Default 16. */
  readonly concurrency?: number | undefined;
  /**
   * The most executions that run at once. Default 100. More can be started or resumed: they are stored, and run when a slot is
   * free, here or in another process. Some slots are kept for executions that polls find; with a queue there are at least two slots.
   */
  readonly maxExecutions?: number | undefined;
  /**
   * How many processes in a row may die while they run one execution, or lose it, before it is parked. It then rests until
   * it is retried (`run.retry`) or cancelled. Every commit sets the count back to zero. Default 5; `Infinity`: it is never parked.
   */
  readonly maxCrashes?: number | undefined;
  /**
   * The most bytes of JSON that the snapshots of running executions may hold together in this process. Executions for which there is no
   * room wait in the store, or go to another process. An execution that is larger than this runs when no other execution does. Default
   * 64 MiB. In memory a snapshot takes several times as many bytes as its JSON.
   */
  readonly maxLoadedBytes?: number | undefined;
  /**
   * The fewest bytes of JSON of events after which a checkpoint is written. From then on the execution is loaded from its checkpoint and
   * the events after it. An execution that holds more has checkpoints more rarely: after one and a half to twelve times as many bytes of
   * events as it holds. Default: 32 KiB.
   */
  readonly checkpointBytes?: number | undefined;
  /**
   * The time between two signs of life that this process sends to the store while it runs executions, in milliseconds: 100 to 28,800,000
   * (8 hours). `runtime.workers()` lists the process until three times this time after its last sign of life. Default: none are sent.
   * `stepfold worker` sends one every 30 s.
   */
  readonly beatMs?: number | undefined;
  /** Name of this process in claims. Default: random. */
  readonly owner?: string | undefined;
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<Limits> | undefined;
  /** The longest time of one attempt, in milliseconds, if neither the node nor its type sets one. Default: 10 minutes. */
  readonly stepTimeoutMs?: number | undefined;
  /**
   * How long ended executions are kept, in milliseconds or as text ("30d", "PT12H"): one duration for all, or one for each id of a
   * workflow. Executions of workflows without a duration are kept for ever, which is the default. A worker deletes older executions
   * when it begins and every ten minutes from then on, at most 10,000 for each duration at a time, the oldest first.
   */
  readonly retention?: Duration | Readonly<Record<string, Duration>> | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  /** The clock, ids and timers. Default: those of this process. */
  readonly environment?: Environment | undefined;
  /**
   * Gets every failed attempt with the stack of the code that threw the error, errors of background work, warnings, and a note when this
   * process begins and ends to run executions. Secrets of `globals` are removed. `console` is a logger. Default: none.
   */
  readonly logger?: Logger | undefined;
  /** Keeps the stacks of errors of nodes in the snapshot. Only for development: stacks show where files lie. Default: false. */
  readonly keepStacks?: boolean | undefined;
  /**
   * Gives the runtime schedules: pass `schedules()` of `stepfold/schedules`. Default: the runtime has none, and leaves the schedules in the
   * store to runtimes that have this option.
   */
  readonly schedules?: SchedulesPart | undefined;
  /**
   * Called with errors of background work: a store that does not answer, an execution whose node types are missing here. `workflowId` is
   * null if the error belongs to no execution. An error whose texts contain a secret of `globals` is a copy without them.
   */
  readonly onProblem?: ((workflowId: string | null, error: unknown) => void) | undefined;
}
