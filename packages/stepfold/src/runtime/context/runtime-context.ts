import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import { checkOptions } from "../../core/values/check-arguments.ts";
import type { Limits } from "../../core/values/limits.ts";
import { interceptOf } from "../../engine/attempt/intercept.ts";
import { checkTurnOptions, readLimits, readStepTimeout } from "../../engine/limits.ts";
import { type Log, logTo } from "../../engine/logger.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import { defaultConcurrency } from "../../engine/open-turn.ts";
import { checkPlugins, notifyEvent } from "../../engine/plugin.ts";
import { Secrets } from "../../engine/secrets/secrets.ts";
import { shownError } from "../../engine/secrets/shown-error.ts";
import type { TurnSetting } from "../../engine/setting.ts";
import { untyped } from "../../engine/workflow/typed-workflows.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { Lease, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { type Caller, checkCaller } from "../callers/caller.ts";
import { tenantStore } from "../callers/tenant-store.ts";
import { checkGlobalsFor, type GlobalsFor } from "./allowed-globals.ts";
import { Batches } from "./batches.ts";
import { Changes, type CommitNotice } from "./changes.ts";
import type { CommandJob } from "./command-result.ts";
import { FeedLink } from "./feed-link.ts";
import { HeadPolls } from "./head-polls.ts";
import { Lacking } from "./lacking.ts";
import { Registry } from "./registry.ts";
import { type RuntimeOptions, runtimeOptionChecks } from "./runtime-options.ts";
import { answerTimeoutMs, storeWithDeadlines } from "./store/deadline-store.ts";
import { StoreClock } from "./store/store-clock.ts";
import { WakeUpSender } from "./wake-up-sender.ts";

/** What all parts of one runtime share. It does not depend on these parts. */
export interface RuntimeContext {
  /** Where executions are. In a runtime for one tenant: those of the tenant. */
  readonly store: SnapshotStore;
  /** For whom calls are made. Empty, unless they are those of `runtime.scoped`. */
  readonly caller: Caller;
  /** Null: workers only poll the store. */
  readonly queue: WorkQueue | null;
  /** Tells other processes of changes here, and hears of theirs. */
  readonly feed: FeedLink;
  readonly environment: Environment;
  readonly clock: StoreClock;
  readonly registry: Registry;
  readonly changes: Changes;
  /** Finds the changes that other processes make. */
  readonly headPolls: HeadPolls;
  /** Commands that this process commits, in batches for each execution. */
  readonly commands: Batches<CommandJob>;
  readonly wakeUpSender: WakeUpSender;
  /** How turns run. */
  readonly setting: TurnSetting;
  /** The secrets and services of the option `globals`. */
  readonly globals: unknown;
  /** The secrets of all globals, which no message shows. */
  readonly secrets: Secrets;
  /** Which workflow may read which of them. Undefined: every workflow may read all. */
  readonly globalsFor: GlobalsFor | undefined;
  /** The most paths of one execution that are performed at once. */
  readonly concurrency: number;
  /** The task queues whose executions this process claims. Undefined: all. */
  readonly taskQueues: readonly string[] | undefined;
  /** The definitions that this process cannot run. */
  readonly lacking: Lacking;
  /** The name of this process and the length of its claims, for every claim that it makes. */
  readonly lease: Lease;
  /** The time between two polls of the store. */
  readonly pollMs: number;
  /** The number of processes in a row that lose an execution until it is parked. */
  readonly maxCrashes: number;
  /** The most bytes of JSON of the snapshots that are held at once. */
  readonly maxLoadedBytes: number;
  /** Null: there is no logger. */
  readonly log: Log | null;
  /** Called with errors of background work. */
  readonly onProblem: (workflowId: string | null, error: unknown) => void;
  readonly newCommitId: () => string;
  /** The fewest bytes of JSON of events after which a checkpoint is written. */
  readonly checkpointBytes: number;
  /** Aborted once the runtime is closed. Its reason is the error for callers that still wait for something. */
  readonly closed: AbortSignal;
}

const defaultMaxCrashes = 5;
const defaultMaxLoadedBytes = 64 * 1024 * 1024;
const defaultCheckpointBytes = 32 * 1024;
/** The most commands to one execution in one commit. */
const maxCommands = 100;

/** Tells handles of a commit, and other processes if it has opened a wait, or has ended or parked the execution. */
export function publishChange({ changes, feed }: RuntimeContext, notice: CommitNotice, events: readonly Event[]): void {
  changes.publish(notice);
  const { status } = notice;
  if (isTerminal(status) || status === "parked") feed.tell("ended", notice);
  else if (events.some(({ type }) => type === "suspended" || type === "answerRefused")) feed.tell("waiting", notice);
}

/** Tells handles, other processes and plugins of a commit that was not made by a turn. A turn tells plugins itself. */
export function publishCommit(context: RuntimeContext, notice: CommitNotice, events: readonly Event[]): void {
  publishChange(context, notice, events);
  const { workflowId, run, restarts } = notice;
  const execution = { workflowId, ...(run !== undefined && { run }), ...(restarts !== undefined && { restarts }) };
  for (const event of events) notifyEvent(context.setting.plugins, event, execution);
}

/** Makes the shared parts of a runtime from its options. @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `DEFINITION_INVALID` */
export function createRuntimeContext<D extends NodeDefinitions, W>(
  options: RuntimeOptions<D, W>,
  closed: AbortSignal = new AbortController().signal,
): RuntimeContext {
  checkOptions<RuntimeOptions>("createRuntime", options as unknown as RuntimeOptions, runtimeOptionChecks, ["store"]);
  checkPlugins(options.plugins ?? []);
  const { queue = null, leaseMs = 30_000, pollMs = 1_000, concurrency = defaultConcurrency } = options;
  const { maxCrashes = defaultMaxCrashes, maxLoadedBytes = defaultMaxLoadedBytes, checkpointBytes = defaultCheckpointBytes } = options;
  const { logger = null, globals, globalsFor, drive: drives = true } = options;
  checkGlobalsFor(globalsFor);
  const secrets = new Secrets(globals, options.secrets);
  const log = logger && logTo(logger, secrets.scrub);
  const onProblem = tellerOfProblems(log, options.onProblem, secrets);
  const environment = options.environment ?? systemEnvironment;
  checkTurnOptions({ concurrency });
  const deadlines = new Deadlines(environment);
  const answerMs = answerTimeoutMs(leaseMs);
  const store = storeWithDeadlines(options.store, deadlines, answerMs);
  const limits = limitsFor(store, readLimits(options.limits));
  const registry = new Registry(store, { ...untyped(options.workflows, options.nodeDefinitions), limits, globalsFor, drives });
  const setting = settingOf(options, { environment, deadlines, limits, workflowNamed: (name) => registry.current(name) });
  const clock = new StoreClock(store, environment);
  const feed = new FeedLink({
    feed: options.feed ?? null,
    environment,
    deadlines,
    answerMs,
    onProblem: (error) => onProblem(null, error),
    note: (text) => log?.info(text, {}),
  });
  return {
    store,
    caller: {},
    queue,
    feed,
    environment,
    clock,
    registry,
    changes: new Changes(),
    headPolls: headPollsWith(feed, { store, environment, pollMs }),
    commands: new Batches(maxCommands),
    wakeUpSender: new WakeUpSender({ queue, store, environment, deadlines, answerMs, clock, onProblem }),
    setting,
    globals,
    secrets,
    globalsFor,
    concurrency,
    taskQueues: options.taskQueues,
    lacking: new Lacking(),
    lease: { owner: options.owner ?? environment.newId(), leaseMs },
    pollMs,
    maxCrashes,
    maxLoadedBytes,
    log,
    onProblem,
    newCommitId: commitIds(environment.newId()),
    checkpointBytes,
    closed,
  };
}

/** Returns the same parts for the calls of somebody else. */
export function scopedContext(context: RuntimeContext, caller: Caller): RuntimeContext {
  checkCaller(caller);
  const { tenant } = caller;
  return { ...context, caller: { ...caller }, ...(tenant !== undefined && { store: tenantStore(context.store, tenant) }) };
}

/** Returns what tells the logger and the host of an error of background work, without secrets. */
function tellerOfProblems(log: Log | null, host: RuntimeOptions["onProblem"], secrets: Secrets): RuntimeContext["onProblem"] {
  return (workflowId, error) => {
    log?.problem(workflowId, error);
    host?.(workflowId, shownError(error, secrets.scrub));
  };
}

/** Makes the polls of heads of a runtime. The notices of the feed are hints for them. */
function headPollsWith(feed: FeedLink, options: Pick<RuntimeContext, "store" | "environment" | "pollMs">): HeadPolls {
  const headPolls = new HeadPolls({ ...options, onAdd: () => feed.listen() });
  feed.subscribe({ hear: ({ workflowId, version }) => headPolls.hint(workflowId, version), missed: () => headPolls.hintAll() });
  return headPolls;
}

/** Returns how turns run. @throws StepfoldError `OPTION_INVALID` */
function settingOf<D extends NodeDefinitions>(
  options: RuntimeOptions<D>,
  parts: Pick<TurnSetting, "environment" | "deadlines" | "limits" | "workflowNamed">,
): TurnSetting {
  const { plugins = [], logger = null, keepStacks = false, may = null, stepTimeoutMs } = options;
  if (may !== null && typeof may !== "function") throw new StepfoldError("OPTION_INVALID", { option: "may", reason: "must be a function" });
  return {
    ...parts,
    stepTimeoutMs: readStepTimeout(stepTimeoutMs),
    plugins,
    logger,
    keepStacks,
    may,
    intercept: interceptOf(parts.environment),
  };
}

/** Checks that each option is a number of at least 1. @throws StepfoldError `OPTION_INVALID` */
export function requireAtLeastOne(options: Readonly<Record<string, unknown>>): void {
  for (const [option, value] of Object.entries(options)) {
    if (typeof value === "number" && value >= 1) continue;
    throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a number of at least 1" });
  }
}

/** Checks that an option is a whole number of at least 1. @throws StepfoldError `OPTION_INVALID` */
export function requireWhole(option: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number of at least 1" });
}

/** Room for the parts of an event beside its value: ids, times, names. */
const eventBytes = 16 * 1024;

/** Lowers the limit of values to what the store can hold, so that a value which is too large for the store fails the step that made it. */
function limitsFor({ features: { maxValueBytes } }: SnapshotStore, limits: Limits): Limits {
  if (maxValueBytes === undefined) return limits;
  return { ...limits, valueBytes: Math.min(limits.valueBytes, Math.max(1, maxValueBytes - eventBytes)) };
}

/** Returns a function that makes commit ids of a random prefix and a counter: unique and cheap. */
function commitIds(prefix: string): () => string {
  let commits = 0;
  return () => `${prefix}.${(++commits).toString(36)}`;
}
