import type { Draft } from "../core/transition/draft/draft.ts";
import type { Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Limits } from "../core/values/limits.ts";
import type { Deadlines } from "../environment/deadlines.ts";
import type { Environment } from "../ports/environment.ts";
import { nodeOf, placeOf } from "./attempt/task-scope.ts";
import { notify, type Plugin, type TaskInfo } from "./plugin.ts";
import { scrubber } from "./scrub.ts";
import { Turn, type TurnOptions } from "./turn.ts";
import type { PreparedWorkflow } from "./workflow/prepared-workflow.ts";

/** What all turns of an engine or a runtime share. */
export interface TurnSetting {
  readonly environment: Environment;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
  readonly stepTimeoutMs: number;
  readonly plugins: readonly Plugin[];
  readonly workflowNamed: (name: string) => PreparedWorkflow;
}

/** What one turn is given. */
export interface TurnRequest {
  readonly globals?: unknown;
  readonly concurrency?: number | undefined;
  readonly stepLimit?: number | undefined;
  readonly now?: (() => EpochMs) | undefined;
  readonly early?: string | null | undefined;
  readonly commit?: TurnOptions["commit"] | undefined;
  readonly deliver?: TurnOptions["deliver"] | undefined;
  readonly onEvent?: TurnOptions["onEvent"] | undefined;
}

/** How many paths of one execution are performed at once, by default. */
export const defaultConcurrency = 16;

/** Makes a turn on a draft that tells plugins and removes secrets from errors. */
export function openTurn(workflow: PreparedWorkflow, draft: Draft, setting: TurnSetting, request: TurnRequest): Turn {
  const { environment, deadlines, limits, stepTimeoutMs, plugins, workflowNamed } = setting;
  const { globals, onEvent } = request;
  const { workflowId } = draft;
  const now = request.now ?? (() => environment.now());
  const watched = plugins.length > 0;
  const info = (task: Task): TaskInfo => ({
    ...task,
    stepPath: [...task.stepPath],
    workflowId,
    type: nodeOf(task, placeOf(task, draft)).node.type,
  });
  let scrub: ((text: string) => string) | null = null;
  return new Turn(draft, {
    performing: {
      workflowId,
      globals,
      now,
      deadlines,
      limits,
      stepTimeoutMs,
      workflowNamed,
      scrub: (text) => {
        scrub ??= scrubber(globals);
        return scrub(text);
      },
      onThrown: watched ? (thrown, task) => notify(plugins, "onError", thrown, info(task)) : null,
      onHeartbeat: watched ? (progress, task) => notify(plugins, "onHeartbeat", progress, info(task)) : null,
    },
    prepared: workflow.nodes,
    concurrency: request.concurrency ?? defaultConcurrency,
    stepLimit: request.stepLimit ?? Number.POSITIVE_INFINITY,
    now,
    early: request.early ?? null,
    onTask: watched ? (task) => notify(plugins, "beforeNode", info(task)) : null,
    onOutcome: watched ? (task, outcome) => notify(plugins, "afterNode", info(task), Object.freeze(outcome)) : null,
    onWarning: watched ? (warning) => notify(plugins, "onWarning", warning, { workflowId }) : null,
    commit: request.commit ?? null,
    deliver: request.deliver ?? null,
    onEvent: watched
      ? (event, after) => {
          notify(plugins, "onEvent", Object.freeze(event), { workflowId });
          onEvent?.(event, after);
        }
      : (onEvent ?? null),
  });
}
