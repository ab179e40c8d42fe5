import { runNumbers } from "../core/snapshot/parts/lineage.ts";
import type { Warning } from "../core/snapshot/parts/warning.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import type { Task } from "../core/transition/plan.ts";
import type { AttemptContext } from "./attempt/attempt-state.ts";
import type { CodeEngine } from "./code/code-engine.ts";
import { type Log, logTo } from "./logger.ts";
import { notify, notifyEvent, type TaskInfo } from "./plugin.ts";
import type { Scrub } from "./secrets/scrubber.ts";
import { shownError } from "./secrets/shown-error.ts";
import type { TurnSetting } from "./setting.ts";
import { Turn } from "./turn.ts";
import type { AttemptRequest, TurnRequest } from "./turn-options.ts";
import { prepareUndo } from "./workflow/prepare-undo.ts";
import type { PreparedWorkflow } from "./workflow/prepared-workflow.ts";

/** How many paths of one execution are performed at once, by default. */
export const defaultConcurrency = 16;

/** Creates a turn for a draft. The turn tells plugins what happens, and removes secrets from errors. */
export function openTurn(workflow: PreparedWorkflow, draft: Draft, setting: TurnSetting, request: TurnRequest): Turn {
  const { environment, plugins } = setting;
  const { onEvent } = request;
  const { workflowId } = draft;
  const { performing, info, log } = attemptContext(draft, setting, request);
  const watched = plugins.length > 0;
  const { nodeDefinitions } = workflow;
  const code = codeEngineOf(workflow);
  const late = (id: string, step: string): void => warnOfLateStep(id, step, workflowId, log);
  return new Turn(draft, {
    performing,
    prepared: workflow.nodes,
    codeRuns: code && ((host) => code.runs({ ...host, prepare: (step) => code.prepareStep(step, nodeDefinitions, setting.limits), late })),
    prepareUndo: (compiled) => prepareUndo(compiled, nodeDefinitions),
    concurrency: request.concurrency ?? defaultConcurrency,
    stepLimit: request.stepLimit ?? Number.POSITIVE_INFINITY,
    environment,
    now: performing.now,
    early: request.early ?? null,
    onTask: watched ? (task, type) => notify(plugins, "beforeNode", info(task, type)) : null,
    onOutcome: watched ? (task, type, outcome) => notify(plugins, "afterNode", info(task, type), Object.freeze(outcome)) : null,
    onWarning: watched || log ? (warning) => reportWarning(warning, workflowId, plugins, log) : null,
    commit: request.commit ?? null,
    deliver: request.deliver ?? null,
    onEvent: watched
      ? (event, after) => {
          notifyEvent(plugins, event, { workflowId, ...runNumbers(after, event.version) });
          onEvent?.(event, after);
        }
      : (onEvent ?? null),
  });
}

/** Returns what runs the code of a workflow and of those inside it; null if they have none, or this process does not have it. */
function codeEngineOf({ compiled, nodes }: PreparedWorkflow): CodeEngine | null {
  if (!compiled.runsCode) return null;
  for (const { definition } of nodes.values()) if (definition["~code"]) return definition["~code"].engine as CodeEngine;
  return null;
}

function reportWarning(warning: Warning, workflowId: string, plugins: TurnSetting["plugins"], log: Log | null): void {
  notify(plugins, "onWarning", warning, { workflowId });
  log?.warn(`Execution "${workflowId}": ${warning.message}`, { workflowId, code: warning.code });
}

function warnOfLateStep(workflow: string, step: string, workflowId: string, log: Log | null): void {
  const why = "it had waited for something that is no step while its steps waited, and nothing that it asks for counts any more";
  log?.warn(`The code of "${workflow}" asked for the step "${step}" after it was left: ${why}`, {
    workflowId,
    code: "CODE_AWAITED_ELSEWHERE",
  });
}

/** Returns what all attempts of one execution have in common, a function that describes a task for plugins, and the log. */
export function attemptContext(
  draft: Draft,
  setting: TurnSetting,
  request: AttemptRequest,
): { readonly performing: AttemptContext; readonly info: (task: Task, type: string) => TaskInfo; readonly log: Log | null } {
  const { environment, deadlines, limits, stepTimeoutMs, plugins, logger, keepStacks, workflowNamed, may, intercept } = setting;
  const { globals, secrets, globalNames = null } = request;
  const { workflowId } = draft;
  const watched = plugins.length > 0;
  // nothing is read from the draft: the scope of a step in flight may have ended
  const info = (task: Task, type: string): TaskInfo => ({ ...task, stepPath: [...task.stepPath], workflowId, type });
  let made: Scrub | null = null;
  const scrub: Scrub = (text) => {
    made ??= secrets.current();
    return made(text);
  };
  const log: Log | null = logger && logTo(logger, scrub);
  const performing: AttemptContext = {
    workflowId,
    globals,
    now: request.now ?? (() => environment.now()),
    deadlines,
    limits,
    stepTimeoutMs,
    workflowNamed,
    may,
    intercept,
    globalNames,
    scrub,
    keepStacks,
    onFailed: log && ((thrown, task, type, outcome) => log.failed(thrown, info(task, type), outcome)),
    onThrown: watched ? (thrown, task, type) => notify(plugins, "onError", shownError(thrown, scrub), info(task, type)) : null,
    onHeartbeat: watched ? (progress, task, type) => notify(plugins, "onHeartbeat", progress, info(task, type)) : null,
  };
  return { performing, info, log };
}
