import type { CompiledWorkflow } from "../../definition/compiled.ts";
import { evaluateDuration } from "../../definition/compiled-policy.ts";
import type { ScopeParts } from "../../definition/template.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import type { EpochMs } from "../../values/json.ts";
import { lastMs } from "../../values/timestamp.ts";

/**
 * Returns the time by which a run of a workflow that begins at `parts.at` must have ended; undefined if the workflow has no `timeout`.
 *
 * @throws StepfoldError `INPUT_INVALID` if the input gives no `timeout`, `EXPRESSION_FAILED`, `EXPRESSION_BUDGET`, `DURATION_INVALID`,
 * `LIMIT_EXCEEDED`
 */
export function deadlineOf(workflow: CompiledWorkflow, parts: Pick<ScopeParts, "input" | "metadata" | "at">): EpochMs | undefined {
  const { timeoutMs, language, limits, definition } = workflow;
  if (timeoutMs === null) return undefined;
  const ms = evaluateDuration(timeoutMs, language.executionScope({ context: {}, since: 0, ...parts }), (reason) => {
    const issues = [{ pointer: "", message: `gives no "timeout" of the workflow: that ${reason}` }];
    return new StepfoldError("INPUT_INVALID", { workflow: definition.id, issues });
  });
  return laterBy(ms, parts.at, limits.timerMs, `The timeout of workflow "${definition.id}"`);
}

/**
 * Returns the time `ms` after `from`, in whole milliseconds, but at most the last time that a `Date` can hold. `what` names the duration in
 * the error.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED` if `ms` is more than `max`
 */
export function laterBy(ms: number, from: EpochMs, max: number, what: string): EpochMs {
  if (ms <= max) return Math.min(from + Math.ceil(ms), lastMs);
  throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "timerMs", max, actual: ms });
}
