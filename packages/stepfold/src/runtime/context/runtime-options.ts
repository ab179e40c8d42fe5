import type { Duration } from "../../core/values/duration.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { May } from "../../engine/attempt/may.ts";
import type { Logger } from "../../engine/logger.ts";
import type { GlobalsOf, NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { Plugin } from "../../engine/plugin.ts";
import type { Environment } from "../../ports/environment.ts";
import type { EventFeed } from "../../ports/event-feed.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import type { GlobalsFor } from "./allowed-globals.ts";
import type { SchedulesPart } from "./schedule-host.ts";

/** Every option there is. */
export const runtimeOptions: readonly (keyof RuntimeOptions)[] = [
  ...(["store", "workflows", "nodeDefinitions", "globals", "queue", "feed", "drive", "leaseMs", "pollMs", "concurrency"] as const),
  ...([
    "maxExecutions",
    "maxCrashes",
    "maxLoadedBytes",
    "checkpointBytes",
    "beatMs",
    "owner",
    "limits",
    "stepTimeoutMs",
    "retention",
    "plugins",
    "environment",
    "logger",
    "keepStacks",
    "may",
    "globalsFor",
    "schedules",
    "onProblem",
  ] as const),
];

/** What a runtime is made of. */
export interface RuntimeOptions<D extends NodeDefinitions = NodeDefinitions> {
  /** Yours to open and to close. */
  readonly store: SnapshotStore;
  /** The definitions that can be started here; plain JSON. */
  readonly workflows?: readonly unknown[];
  /**
   * The code of the nodes. A process with `drive: false` needs none of it, or not all: it starts, answers, signals, cancels, retries, forks, restarts,
   * lists and watches all the same.
   */
  readonly nodeDefinitions?: D | undefined;
  /** Secrets and services for executors and expressions; never stored. */
  readonly globals?: GlobalsOf<D> | undefined;
  /**
   * Which globals the expressions and nodes of a workflow may read, by its id; `"*"` for all that are not named, also for those that
   * were handed to `start`. Where it is given, definitions that were handed to `start` read no others, and workflows
   * that are not named read all. Where it is not, all read all. An expression that names another one is `GLOBAL_DENIED`.
   *
   * ```ts
   * const options = { globals: { stripe, mail }, globalsFor: { billing: ["stripe"], "*": ["mail"] } };
   * ```
   */
  readonly globalsFor?: GlobalsFor | undefined;
  /**
   * Judges what a definition wants to do to another execution, before it is done: today, to start one (node type `workflow` with
   * `detached`). False, anything else but true, and an error refuse it: the node fails with `ACTION_DENIED`. What it has allowed is recorded
   * in the event, and not asked again. Default: a definition may start every workflow of `workflows`.
   */
  readonly may?: May | undefined;
  /**
   * Tells workers which executions are due. Yours to open and to close. It is only a hint: an execution whose message is
   * lost is found in the store half a second later, by the next poll. Default: none, every worker polls the store.
   */
  readonly queue?: WorkQueue;
  /**
   * Tells all processes on the store at once what has become due, which waits were opened and what has ended: workers take it, and
   * `result`, `settled`, `waitFor` and `watch` see it, without waiting for their next poll. Yours to open and to close. It is only a
   * hint: without it, or where it is silent, everything is found by polls. Default: none.
   */
  readonly feed?: EventFeed | undefined;
  /** Whether this process runs executions from the beginning. Default true. With false it only stores what is due, until `work`. */
  readonly drive?: boolean;
  /** How long a process keeps an execution without a sign of life. Default 30 s. */
  readonly leaseMs?: number;
  /** How often the store is asked for executions that are due and held by no process. Default 1 s. */
  readonly pollMs?: number;
  /** Paths of one execution performed at once. Default 16. */
  readonly concurrency?: number;
  /**
   * Executions run at once. Default 100. More can be started or resumed: they are stored, and run when a slot is free, here
   * or in another process. Some slots are kept for executions found in the store; with a queue there are at least two slots.
   */
  readonly maxExecutions?: number;
  /**
   * Processes in a row that may die while they run one execution, or lose it, before it is parked: it then rests until
   * somebody calls `retry`. Every commit sets the count back to zero. Default 5; `Infinity` for never.
   */
  readonly maxCrashes?: number;
  /**
   * Bytes of JSON that the snapshots of running executions hold together in this process. Executions for which there is no room
   * wait in the store, or go to another process; one that is larger than all of it runs when no other does. Default 64 MiB: in memory
   * a snapshot takes several times its JSON.
   */
  readonly maxLoadedBytes?: number;
  /**
   * Bytes of JSON that events have at least before a checkpoint is written among them: from then on an execution is loaded from its checkpoint
   * and the events after it. Of an execution that holds much it is written more rarely, after one and a half to twelve times as many bytes as it holds.
   * Default: 32 KiB.
   */
  readonly checkpointBytes?: number;
  /**
   * Tells the store every so many milliseconds that this process runs executions, while it does: `runtime.workers()` knows it from then on, and for
   * three times as long after it has died. 100 ms to 8 hours. Default: it does not tell. `stepfold worker` tells every 30 s.
   */
  readonly beatMs?: number | undefined;
  /** Name of this process in claims. Default: random. */
  readonly owner?: string;
  readonly limits?: Partial<Limits>;
  /** Longest time of one attempt where neither node nor type says, in milliseconds. Default: 10 minutes. */
  readonly stepTimeoutMs?: number;
  /**
   * How long ended executions are kept, in milliseconds or as text ("30d", "PT12H"): one duration for all, or one for each
   * id of a workflow; those of other workflows are kept for ever, which is the default. A worker deletes older ones when it
   * begins and every ten minutes from then on, some thousand at a time, the oldest first.
   */
  readonly retention?: Duration | Readonly<Record<string, Duration>>;
  readonly plugins?: readonly Plugin[];
  readonly environment?: Environment;
  /**
   * Is told of every failed attempt, with the stack of the code that threw it, of errors of background work, of doubts, and
   * when this process begins and ends to run executions. Secrets of `globals` are taken out. `console` is one. Default: nobody.
   */
  readonly logger?: Logger | undefined;
  /** Keeps the stack of what nodes throw in the error of the snapshot: for development, since stacks tell where files lie. Default: false. */
  readonly keepStacks?: boolean | undefined;
  /**
   * Lets the runtime have schedules: `schedules()` of `stepfold/schedules`. Default: it has none, and leaves those in the store to runtimes
   * that can have them.
   */
  readonly schedules?: SchedulesPart | undefined;
  /** Called with errors of background work: a store that does not answer, an execution whose node types are missing here. */
  readonly onProblem?: (workflowId: string | null, error: unknown) => void;
}
