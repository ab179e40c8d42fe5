import { errorInfo } from "../core/errors/error-info.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { readSnapshot } from "../core/reading/read-snapshot.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { openDraft } from "../core/transition/draft/open-draft.ts";
import type { Task } from "../core/transition/plan.ts";
import { nodeOfTask, scopeOfTask } from "../core/transition/task-scope.ts";
import { refuseUnknown } from "../core/values/check-arguments.ts";
import type { Limits } from "../core/values/limits.ts";
import type { Outcome } from "../engine/attempt/outcome.ts";
import { perform } from "../engine/attempt/perform.ts";
import { decide } from "../engine/commands/command.ts";
import { attemptContext } from "../engine/open-turn.ts";
import type { Secrets } from "../engine/secrets/secrets.ts";
import { shownError } from "../engine/secrets/shown-error.ts";
import type { TurnSetting } from "../engine/setting.ts";
import type { PreparedWorkflow } from "../engine/workflow/prepared-workflow.ts";
import { startEvent } from "../engine/workflow/start-event.ts";
import type { GuestMessage, GuestResult, GuestStart, GuestStep } from "./host.ts";

/** What is needed to perform the steps of a guest. */
export interface Performing {
  /** @throws StepfoldError `DEFINITION_UNKNOWN` */
  readonly workflowNamed: (name: string) => PreparedWorkflow;
  readonly setting: TurnSetting;
  readonly globals: unknown;
  readonly secrets: Secrets;
  readonly concurrency: number;
  readonly onRefused: (message: GuestMessage, error: unknown, workflowId: string) => void;
}

/**
 * Performs one step of a guest.
 *
 * @throws StepfoldError `DEFINITION_CHANGED`, `DEFINITION_UNKNOWN`, `OPTION_INVALID`, `SNAPSHOT_INVALID`, ...
 */
export async function performStep(performing: Performing, step: GuestStep): Promise<GuestResult> {
  if (step?.type === "start") return begun(performing, step.start);
  if (step?.type !== "attempt" && step?.type !== "command") throw invalid("step", "must be one that guest.run has asked its host for");
  const { workflowNamed, setting } = performing;
  const prepared = workflowNamed(step.snapshot.definition.id);
  const { workflowId, definition } = step.snapshot;
  requireHash(workflowId, prepared, definition.hash);
  const snapshot = readSnapshot(step.snapshot, prepared.compiled, setting.limits);
  if (step.type === "attempt") {
    const draft = openDraft(prepared.compiled, snapshot);
    const outcome = await attempted(performing, prepared, draft, step.task);
    // a guest aborts no attempts, so the outcome is never `aborted`
    return { type: "performed", outcome: outcome as Exclude<Outcome, { type: "aborted" }> };
  }
  const { message } = step;
  try {
    // the clock of the sender may be ahead of this one
    const at = Math.min(message.at, setting.environment.now());
    return { type: "decided", event: await decide(prepared, snapshot, message.command, at, setting.limits) };
  } catch (error) {
    const { scrub } = performing.secrets;
    performing.onRefused(message, shownError(error, scrub), workflowId);
    return { type: "refused", error: errorInfo(error, undefined, scrub) };
  }
}

/** Checks that an execution was started with this definition. @throws StepfoldError `DEFINITION_CHANGED` */
export function requireHash(workflowId: string, { compiled }: PreparedWorkflow, begunWith: string): void {
  if (compiled.hash === begunWith) return;
  throw new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: compiled.hash, actual: begunWith, inJournal: true });
}

function begun({ workflowNamed, setting, secrets, concurrency }: Performing, start: GuestStart): GuestResult {
  const { environment, limits } = setting;
  try {
    if (typeof start !== "object" || start === null) throw invalid("start", "must be an object with workflow and workflowId");
    refuseUnknown("guest.run", start, startKeys);
    const { workflow, ...options } = start;
    if (options.workflowId === undefined) throw invalid("workflowId", "must be given: the id that the host has for the execution");
    const event = startEvent(workflowNamed(workflow), options, environment, limits);
    return { type: "started", event, limits: inJson(limits), concurrency: Math.min(concurrency, Number.MAX_SAFE_INTEGER) };
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    return { type: "refused", error: errorInfo(error, undefined, secrets.scrub) };
  }
}

const startKeys: readonly (keyof GuestStart)[] = ["workflow", "workflowId", "input", "metadata", "tenant", "initialNodeId"];

/** Replaces infinite limits by the largest safe integer, because JSON has no infinity. */
function inJson(limits: Limits): Limits {
  const finite = Object.entries(limits).map(([name, limit]) => [name, Math.min(limit, Number.MAX_SAFE_INTEGER)] as const);
  return Object.fromEntries(finite) as unknown as Limits;
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}

function attempted({ setting, globals, secrets }: Performing, prepared: PreparedWorkflow, draft: Draft, task: Task): Promise<Outcome> {
  const { performing } = attemptContext(draft, setting, { globals, secrets });
  const node = prepared.nodes.get(nodeOfTask(task, scopeOfTask(task, draft)))!;
  return new Promise((resolve) => {
    const { outcome } = perform(task, node, scopeOfTask(task, draft), performing, performing.now(), resolve);
    if (outcome) resolve(outcome);
  });
}
