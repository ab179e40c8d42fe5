import { type CompiledWorkflow, compile } from "stepfold/core";
import { expressionLanguage } from "stepfold/expressions";
import { checkCode } from "./check-code.ts";
import { checkExecution, type Problems } from "./check-execution.ts";
import { checkLacking, type LeftToOthers } from "./check-lacking.ts";
import { type Acknowledged, checkLog } from "./check-log.ts";
import type { WrittenLine } from "./log.ts";
import type { Stored } from "./stored.ts";

/** The result of the checks of a run. `lost`, `doubled` and `wrong` are empty if all is well. */
export interface Verdict extends Problems {
  readonly executions: number;
  readonly versions: number;
  readonly acknowledged: Acknowledged;
  readonly left: LeftToOthers;
}

/**
 * Checks a run by the rows of its store and by the logs of its processes, without the code of the store or the runtime:
 * histories without gaps and duplicates, one commit for each version, nothing after an end, everything acknowledged is stored, every
 * wait is answered once, every step of code has one result, and every race one winner, no stale commit, an effect for each result, heads that match their rows, no execution that has not ended or was
 * parked, and none that was given to a process that knew that it cannot run it.
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
  checkCode(
    executions.filter(({ definition }) => compiled.get(definition.hash)?.code),
    problems,
  );
  const acknowledged = checkLog(executions, lines, problems, isClockRight);
  const left = checkLacking(executions, lines, problems);
  const versions = executions.reduce((sum, { rows }) => sum + rows.length, 0);
  return { ...problems, executions: executions.length, versions, acknowledged, left };
}
