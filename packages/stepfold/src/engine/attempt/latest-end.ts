import { evaluateDuration } from "../../core/definition/compiled-policy.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { AttemptState } from "./attempt-state.ts";

/**
 * The time by which everything that a node waits for (its children, a detached execution, a delivery) must have ended. Undefined: no such
 * time.
 */
export function latestEnd({ node, task, context, scope }: AttemptState, now: EpochMs): EpochMs | undefined {
  if (node.timeoutMs === null) return undefined;
  const timeoutMs = evaluateDuration(node.timeoutMs, scope());
  const { timerMs: max } = context.limits;
  if (timeoutMs > max)
    throw new StepfoldError("LIMIT_EXCEEDED", { what: `The timeout of node "${task.nodeId}"`, limit: "timerMs", max, actual: timeoutMs });
  return now + Math.ceil(timeoutMs);
}
