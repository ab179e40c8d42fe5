import type { ContinuedEvent, Event, RestartedEvent } from "../core/snapshot/event.ts";
import type { RunNumbers } from "../core/snapshot/parts/lineage.ts";
import type { Warning } from "../core/snapshot/parts/warning.ts";
import type { Task } from "../core/transition/plan.ts";
import { refuseUnknown } from "../core/values/check-arguments.ts";
import type { Outcome } from "./attempt/outcome.ts";

/** A task, as plugins see it. */
export interface TaskInfo extends Task {
  readonly workflowId: string;
  readonly type: string;
}

/**
 * An execution, as plugins see it with an event. An execution that is restarted ends once more under the same id: `run` and `restarts` tell
 * its ends apart.
 */
export interface ExecutionInfo extends RunNumbers {
  readonly workflowId: string;
}

/**
 * Observes executions. A member whose name begins with `on`, `before` or `after` must be one of these hooks. If a hook throws, or returns a
 * promise that rejects, no execution changes.
 */
export interface Plugin {
  readonly name?: string;
  /** Called after an event was applied and, with a store, committed. */
  onEvent?(event: Event, execution: ExecutionInfo): unknown;
  /**
   * Called after `onEvent` when the next run of an execution has begun (`continueAs`), with the number of this run. It is no end of the
   * execution.
   */
  onContinued?(event: ContinuedEvent, execution: ExecutionInfo): unknown;
  /**
   * Called after `onEvent` when an execution that had failed or was cancelled was restarted: it is open again. Called in the process whose
   * call has restarted it.
   */
  onRestarted?(event: RestartedEvent, execution: ExecutionInfo): unknown;
  /** Called before a task is performed. */
  beforeNode?(task: TaskInfo): unknown;
  /** Called with the outcome of a task, before the outcome is applied. */
  afterNode?(task: TaskInfo, outcome: Outcome): unknown;
  /**
   * Called when an attempt threw: `thrown` is what the executor threw, or the evaluation or a check of its data or output.
   * If its texts contain a secret of `globals`, it is a copy without them, of the same class. Not called for a
   * timeout or a limit: the events `failed` of `onEvent` show every failure.
   */
  onError?(thrown: unknown, task: TaskInfo): unknown;
  /** Called when a step calls `heartbeat`. */
  onHeartbeat?(progress: unknown, task: TaskInfo): unknown;
  /** Called if something in the execution is probably a mistake. */
  onWarning?(warning: Warning, execution: { readonly workflowId: string }): unknown;
}

const hooks = ["onEvent", "onContinued", "onRestarted", "beforeNode", "afterNode", "onError", "onHeartbeat", "onWarning"] as const;

type Hook = (typeof hooks)[number];

/** Refuses a member that looks like a hook but is not one. A plugin may have any other members. @throws StepfoldError `OPTION_UNKNOWN` */
export function checkPlugins(plugins: readonly Plugin[]): void {
  for (const plugin of plugins) {
    const like = Object.keys(plugin).filter((key) => /^(on|before|after)[A-Z]/.test(key));
    refuseUnknown(`Plugin ${plugin.name ?? ""}`.trim(), Object.fromEntries(like.map((key) => [key, true])), hooks);
  }
}

/** Calls one hook of every plugin. The caller never gets an error of a plugin. */
export function notify<H extends Hook>(plugins: readonly Plugin[], hook: H, ...args: Parameters<NonNullable<Plugin[H]>>): void {
  for (const plugin of plugins) {
    try {
      const returned = (plugin[hook] as ((...args: unknown[]) => unknown) | undefined)?.(...args);
      // a promise may be of another realm or of a library
      if (typeof (returned as PromiseLike<unknown> | undefined)?.then === "function") Promise.resolve(returned).catch(() => undefined);
    } catch {
      // a failing plugin must not change the execution
    }
  }
}

/** Tells every plugin of an event that was applied and, with a store, committed. */
export function notifyEvent(plugins: readonly Plugin[], event: Event, execution: ExecutionInfo): void {
  notify(plugins, "onEvent", Object.freeze(event), execution);
  if (event.type === "continued") notify(plugins, "onContinued", event, execution);
  if (event.type === "restarted") notify(plugins, "onRestarted", event, execution);
}
