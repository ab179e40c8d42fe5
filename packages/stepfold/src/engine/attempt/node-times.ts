import { type Computed, evaluateDuration } from "../../core/definition/compiled-policy.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { AttemptState } from "./attempt-state.ts";

/**
 * The time by which everything that a node waits for (its children, a detached execution, a delivery) must have ended. Undefined: no such
 * time.
 */
export function latestEnd(run: AttemptState, now: EpochMs): EpochMs | undefined {
  const { node, task, context } = run;
  if (node.timeoutMs === null) return undefined;
  const timeoutMs = settingMs(run, "timeout", node.timeoutMs);
  const { timerMs: max } = context.limits;
  if (timeoutMs > max)
    throw new StepfoldError("LIMIT_EXCEEDED", { what: `The timeout of node "${task.nodeId}"`, limit: "timerMs", max, actual: timeoutMs });
  return now + Math.ceil(timeoutMs);
}

/** Returns the milliseconds of a setting of the node. @throws StepfoldError `DATA_INVALID` if its expression is undefined */
export function settingMs({ task: { nodeId }, scope }: AttemptState, name: "timeout" | "heartbeatTimeout", computed: Computed): number {
  const missing = (reason: string): StepfoldError =>
    new StepfoldError("DATA_INVALID", { nodeId, issues: [{ pointer: "", message: `the "${name}" of the node ${reason}` }] });
  return evaluateDuration(computed, scope(), missing);
}
