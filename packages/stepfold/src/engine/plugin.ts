import type { Event } from "../core/snapshot/event.ts";
import type { Warning } from "../core/snapshot/warning.ts";
import type { Task } from "../core/transition/plan.ts";
import { refuseUnknown } from "../core/values/refuse-unknown.ts";
import type { Outcome } from "./attempt/outcome.ts";

/** What a plugin is told of a task. */
export interface TaskInfo extends Task {
  readonly workflowId: string;
  readonly type: string;
}

/**
 * Observes executions. A member whose name begins with `on`, `before` or `after` must be one of these hooks. If a plugin throws, or a promise of it rejects, no execution changes.
 */
export interface Plugin {
  readonly name?: string;
  /** An event was applied; with a store: and committed. */
  onEvent?(event: Event, execution: { readonly workflowId: string }): unknown;
  beforeNode?(task: TaskInfo): unknown;
  afterNode?(task: TaskInfo, outcome: Outcome): unknown;
  /** An attempt failed; `thrown` is what the executor threw. */
  onError?(thrown: unknown, task: TaskInfo): unknown;
  /** A step called `heartbeat`. */
  onHeartbeat?(progress: unknown, task: TaskInfo): unknown;
  /** Something about the execution is probably not as meant. */
  onWarning?(warning: Warning, execution: { readonly workflowId: string }): unknown;
}

const hooks: readonly Hook[] = ["onEvent", "beforeNode", "afterNode", "onError", "onHeartbeat", "onWarning"];

/** Refuses a member that looks like a hook and is none. Others are the plugin's own. @throws StepfoldError `OPTION_UNKNOWN` */
export function checkPlugins(plugins: readonly Plugin[]): void {
  for (const plugin of plugins) {
    const like = Object.keys(plugin).filter((key) => /^(on|before|after)[A-Z]/.test(key));
    refuseUnknown(`Plugin ${plugin.name ?? ""}`.trim(), Object.fromEntries(like.map((key) => [key, true])), hooks);
  }
}

type Hook = "onEvent" | "beforeNode" | "afterNode" | "onError" | "onHeartbeat" | "onWarning";

/** Calls one hook of every plugin; none of them can fail the caller. */
export function notify<H extends Hook>(plugins: readonly Plugin[], hook: H, ...args: Parameters<NonNullable<Plugin[H]>>): void {
  for (const plugin of plugins) {
    try {
      const returned = (plugin[hook] as ((...args: unknown[]) => unknown) | undefined)?.(...args);
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {
      // a failing plugin must not change the execution
    }
  }
}
