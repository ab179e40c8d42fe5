import { type CompiledWorkflow, compile } from "stepfold/core";
import { expressionLanguage } from "stepfold/expressions";
import { checkExecution, type Problems } from "./check-execution.ts";
import { type Acknowledged, checkLog } from "./check-log.ts";
import type { WrittenLine } from "./log.ts";
import type { Stored } from "./stored.ts";

/** What a run came to. Nothing is lost, doubled or wrong if all is well. */
export interface Verdict extends Problems {
  readonly executions: number;
  readonly versions: number;
  readonly acknowledged: Acknowledged;
}

/**
 * Judges a run by the rows of its store and by what its processes wrote down, without the store's or the runtime's code:
 * histories without gap or double, one commit for each version, nothing after an end, what was acknowledged is there,
 * every wait answered once, no stale commit, an effect for each result, heads that are what their rows add up to, and
 * everything has ended.
 *
 * @param options.isClockRight false: times of the store cannot be compared with those of the machine
 */
export function checkRun({ executions, definitions }: Stored, lines: readonly WrittenLine[], { isClockRight = true } = {}): Verdict {
  const problems: Problems = { lost: [], doubled: [], wrong: [] };
  const compiled = new Map<string, CompiledWorkflow>();
  for (const [hash, definition] of definitions) compiled.set(hash, compile(definition, expressionLanguage));
  const ids = new Set<string>();
  for (const execution of executions) {
    const workflow = compiled.get(execution.definition.hash);
    if (ids.has(execution.workflowId)) problems.doubled.push(`${execution.workflowId} is there twice`);
    ids.add(execution.workflowId);
    if (workflow) checkExecution(execution, workflow, problems);
    else problems.wrong.push(`${execution.workflowId}: its definition is not there`);
  }
  const acknowledged = checkLog(executions, lines, problems, isClockRight);
  const versions = executions.reduce((sum, { rows }) => sum + rows.length, 0);
  return { ...problems, executions: executions.length, versions, acknowledged };
}
