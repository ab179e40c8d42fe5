import type { Problems } from "./check-execution.ts";
import type { WrittenLine } from "./log.ts";
import type { StoredExecution } from "./stored.ts";

/** The claims of executions that their claimants could not run, and left to others. */
export interface LeftToOthers {
  readonly claims: number;
  /** The number of different executions among them. */
  readonly executions: number;
  /** How often one process has claimed the same of them again, by a claim that was under way when it found out that it cannot run it. */
  readonly twice: number;
}

/**
 * Checks that no execution was parked, that no process was given an execution by a claim that it asked for after it had found out that it
 * cannot run the definition, and that the host of each process was told once of each such definition.
 */
export function checkLacking(executions: readonly StoredExecution[], lines: readonly WrittenLine[], { wrong }: Problems): LeftToOthers {
  const hashOf = new Map(executions.map(({ workflowId, definition }) => [workflowId, definition.hash]));
  for (const { workflowId, rows } of executions)
    for (const { version, event } of rows) if (event.type === "parked") wrong.push(`${workflowId}: version ${version} parks it`);
  const told = new Map<string, number>();
  for (const line of lines) {
    if (line.what !== "problem" || line.code !== "WORKFLOW_LEFT") continue;
    const lacked = `${line.by} ${hashOf.get(line.workflowId!)}`;
    if (told.has(lacked)) wrong.push(`${line.workflowId}: the host of ${line.by} was told twice that it cannot be run there`);
    told.set(lacked, line.at);
  }
  const left: string[] = [];
  for (const line of lines) {
    if (line.what !== "claimed") continue;
    const { workflowId, by, askedAt } = line;
    const toldAt = told.get(`${by} ${hashOf.get(workflowId)}`);
    if (toldAt === undefined) continue;
    left.push(`${by} ${workflowId}`);
    if (askedAt > toldAt) wrong.push(`${workflowId}: was claimed by ${by}, which had found out before that it cannot run it`);
  }
  const different = new Set(left);
  const ids = new Set([...different].map((one) => one.slice(one.indexOf(" ") + 1)));
  return { claims: left.length, executions: ids.size, twice: left.length - different.size };
}
