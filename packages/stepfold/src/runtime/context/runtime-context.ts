import type { Draft } from "../../core/draft/draft.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { Deadlines } from "../../engine/deadlines.ts";
import type { NodeDefinitions } from "../../engine/node-definition.ts";
import { defaultConcurrency, type TurnSetting } from "../../engine/open-turn.ts";
import { systemEnvironment } from "../../engine/system-environment.ts";
import { checkTurnOptions, readLimits, readStepTimeout } from "../../engine/turn-options.ts";
import type { Lease, SnapshotStore } from "../../ports/snapshot-store.ts";
import { type Retention, readRetention } from "../retention/retention.ts";
import type { RuntimeOptions } from "../runtime.ts";
import { Driver } from "../worker/dispatcher.ts";
import { Changes } from "./changes.ts";
import { Registry } from "./registry.ts";
import { StoreClock } from "./store-clock.ts";
import { Messenger } from "./wake-up-sender.ts";

/** What the parts of one runtime share. */
export interface Kernel {
  readonly store: SnapshotStore;
  readonly setting: TurnSetting;
  readonly registry: Registry;
  readonly changes: Changes;
  readonly driver: Driver;
  readonly messenger: Messenger;
  readonly clock: StoreClock;
  readonly lease: Lease;
  readonly pollMs: number;
  /** Deletes what ended long enough ago. */
  readonly retention: Retention;
  readonly newCommitId: () => string;
}

/** Executions driven at once, where nothing else is said. */
export const defaultExecutions = 100;
/** Processes that may die over one execution in a row, where nothing else is said. */
const defaultCrashes = 5;

/** How long a call waits for a store that does not answer. */
export const unavailableForMs = 10_000;

/**
 * @param deliver takes the messages of an execution to others
 * @throws StepfoldError `OPTION_INVALID`, `DEFINITION_INVALID`
 */
export function assemble<D extends NodeDefinitions>(
  options: RuntimeOptions<D>,
  deliver: (kernel: Kernel, from: Draft) => Promise<readonly string[]>,
): Kernel {
  const {
    store,
    queue = null,
    leaseMs = 30_000,
    pollMs = 1_000,
    maxExecutions = defaultExecutions,
    concurrency = defaultConcurrency,
  } = options;
  const { maxCrashes = defaultCrashes } = options;
  const environment = options.environment ?? systemEnvironment;
  checkTurnOptions({ concurrency });
  for (const [option, value] of Object.entries({ leaseMs, pollMs, maxExecutions, maxCrashes })) checkCount(option, value);
  const limits = limitsOf(store, readLimits(options.limits));
  const { plugins = [], onProblem = () => undefined, globals } = options;
  const registry = new Registry(store, options.workflows ?? [], options.nodeDefinitions, limits);
  const setting: TurnSetting = {
    environment,
    deadlines: new Deadlines(environment),
    limits,
    stepTimeoutMs: readStepTimeout(options.stepTimeoutMs),
    plugins,
    workflowNamed: (name) => registry.current(name),
  };
  const changes = new Changes();
  const clock = new StoreClock(store, environment);
  const messenger = new Messenger({ queue, store, environment, clock, onProblem });
  const lease: Lease = { owner: options.owner ?? environment.newId(), leaseMs };
  const newCommitId = commitIds(environment.newId());
  const driver = new Driver({
    store,
    setting,
    globals,
    concurrency,
    newCommitId,
    registry,
    lease,
    pollMs,
    queue,
    messenger,
    clock,
    maxCrashes,
    onProblem,
    onCommitted: (change) => changes.tell(change),
    deliver: (from) => deliver(kernel, from),
  });
  const retention = readRetention(options.retention, { store, environment, clock, onProblem: (error) => onProblem(null, error) });
  const kernel: Kernel = { store, setting, registry, changes, driver, messenger, clock, lease, pollMs, retention, newCommitId };
  return kernel;
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkCount(option: string, value: unknown): void {
  if (typeof value !== "number" || !(value >= 1))
    throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a number from 1 on" });
}

/** What of an event is not the value that it carries: ids, times, names. */
const eventBytes = 16 * 1024;

/** A value that the store cannot hold fails the step that made it, as any other value that is too large. */
function limitsOf({ features: { maxValueBytes } }: SnapshotStore, limits: Limits): Limits {
  if (maxValueBytes === undefined) return limits;
  return { ...limits, valueBytes: Math.min(limits.valueBytes, Math.max(1, maxValueBytes - eventBytes)) };
}

/** @throws StepfoldError `WORKFLOW_NOT_FOUND` */
export async function load({ store }: Kernel, workflowId: string): Promise<Snapshot> {
  const snapshot = await store.load(workflowId);
  if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  return snapshot;
}

/**
 * Lets whoever drives the execution know that there is something to do.
 *
 * @param due what is stored of it, and when it is due; absent where that is not known
 */
export async function nudge(
  kernel: Kernel,
  workflowId: string,
  due?: { readonly draft: Draft; readonly wakeAt: EpochMs | null },
): Promise<void> {
  const { driver, messenger } = kernel;
  const isHeld = driver.holds(workflowId);
  // what nobody need drive now is not claimed; what could not be claimed now is found by the next poll
  const isNow = !due || due.wakeAt === 0 || isHeld;
  const isDriven = isNow && driver.isOpen && (await driver.nudge(workflowId).catch(() => false));
  if (!isDriven && due) await messenger.send(due.draft, due.wakeAt);
}

/** Random once for the runtime, then counted: unique, and cheap. */
function commitIds(prefix: string): () => string {
  let commits = 0;
  return () => `${prefix}.${(++commits).toString(36)}`;
}
