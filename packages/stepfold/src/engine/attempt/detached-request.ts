import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import type { ChildStart } from "../../core/snapshot/parts/message.ts";
import type { Wait } from "../../core/snapshot/parts/wait.ts";
import type { Task } from "../../core/transition/plan.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";
import { idBeside, indexedOfTenant } from "../../core/values/ids/tenant.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import { checkInput, firstNode } from "../workflow/start-event.ts";
import type { AttemptState } from "./attempt-state.ts";
import { workflowName } from "./children-request.ts";
import { ifAllowed } from "./may.ts";
import { latestEnd } from "./node-times.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Checks the detached execution that a step asks for, and returns the outcome that starts it. The step waits for the end of that execution,
 * unless the request has `wait: false`.
 */
export function spawnedDetached(run: AttemptState, request: unknown): Outcome | Promise<Outcome> {
  const { context, startedAt, scopeDraft, task } = run;
  const { root } = scopeDraft;
  const prepared = context.workflowNamed(workflowName(request));
  const { definition, hash } = prepared.compiled;
  firstNode(prepared, undefined);
  checkDepth(root.parent?.depth ?? 0, context);
  const input = safeMember(request, "input");
  const kept = input === undefined ? undefined : normalise(input, `The input of node "${task.nodeId}"`, context.limits);
  checkInput(prepared, kept?.value, context.limits);
  const starts: ChildStart = Object.freeze({
    workflowId: childId(run, safeMember(request, "workflowId")),
    definition: Object.freeze({ id: definition.id, hash }),
    ...(kept && { input: kept.value }),
  });
  const isAwaited = safeMember(request, "wait") !== false;
  const from = { workflowId: root.workflowId, definition: root.definition, nodeId: task.nodeId, unnamed: root.unnamed === true };
  const action = { action: "start", from, workflow: definition.id, id: starts.workflowId, tenant: root.tenant } as const;
  return ifAllowed(context.may, action, (isAsked) => {
    const allowed = isAsked ? Object.freeze({ ...starts, allowed: true as const }) : starts;
    const outcome = { startedAt, endedAt: context.now(), sizeBytes: kept?.sizeBytes ?? 0, starts: allowed };
    if (isAwaited) return { type: "suspended", ...outcome, waits: Object.freeze([waitFor(task, starts, latestEnd(run, outcome.endedAt))]) };
    const output: Json = Object.freeze({ workflowId: starts.workflowId });
    return { type: "completed", ...outcome, output };
  });
}

function waitFor({ scope = "", pathId, turn }: Task, { workflowId }: ChildStart, timeoutAt: EpochMs | undefined): Wait {
  const id = `${scopedKey(scope, pathId)}@${turn + 1}`;
  return Object.freeze({ id, kind: "child", workflowId, ...(timeoutAt !== undefined && { timeoutAt }) });
}

/**
 * Returns the id of the detached execution: the given one, or one that is the same for every attempt of this visit, so that the execution
 * is started only once. If the parent was deleted and created again, its new incarnation leads to another such id.
 */
function childId({ context, scopeDraft, task }: AttemptState, given: unknown): string {
  const { workflowId: parentId, tenant, incarnation = "" } = scopeDraft.root;
  const made = `${context.workflowId}/${scopedKey(task.scope ?? "", task.pathId)}#${task.visit}${incarnation && `~${incarnation.slice(0, 8)}`}`;
  if (given === undefined || given === null) return indexedOfTenant(tenant, made);
  const id = isWorkflowId(given) ? idBeside({ workflowId: parentId, tenant }, given) : given;
  if (isWorkflowId(id)) return id;
  throw new StepfoldError("OPTION_INVALID", {
    option: "workflowId",
    reason: `must be text of 1 to 255 printable characters, without space at the ends, not ${JSON.stringify(String(id).slice(0, 300))}`,
  });
}

function checkDepth(depth: number, { limits, workflowId }: AttemptState["context"]): void {
  if (depth < limits.nesting) return;
  const what = `Execution "${workflowId}"`;
  throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "nesting", max: limits.nesting, actual: depth + 1 });
}
