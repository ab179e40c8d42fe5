import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scheduleNameOf, scheduleWorkflowId } from "../../core/values/ids/reserved-ids.ts";
import type { ExecutionSummary } from "../../ports/execution-list.ts";

/** What `runtime.schedules` has instead of an action on the execution of a schedule. */
const instead: Readonly<Record<string, string>> = { cancel: "delete", setMetadata: "edit", fork: "create", restart: "create" };

/**
 * Refuses an action on the execution of a schedule. Only `runtime.schedules` changes schedules, and only the executions that a schedule has
 * started report to it. Otherwise anybody who may send a signal could let a schedule start any workflow, at any time, for any tenant.
 *
 * @param action the name of the method of `Run`
 * @throws StepfoldError `SCHEDULE_DENIED`
 */
export function requireNoSchedule({ workflowId, definition }: Pick<ExecutionSummary, "workflowId" | "definition">, action: string): void {
  if (definition.id !== scheduleWorkflowId) return;
  throw new StepfoldError("SCHEDULE_DENIED", { workflowId, action, use: useOf(action, scheduleNameOf(workflowId)) });
}

function useOf(action: string, name: string): string {
  const method = instead[action];
  const call = (one: string): string => `runtime.schedules.${one}(${JSON.stringify(name)})`;
  return method === undefined ? `${call("edit")}, pause, resume, trigger, backfill or delete` : call(method);
}
