import type { DeletedExecution, TrimReport } from "../../ports/store-removal.ts";
import type { ExecutionGuard, RowWrite } from "./execution-rows.ts";
import type { ExecutionTable } from "./execution-table.ts";
import type { CheckedTrim } from "./lists/checked-query.ts";
import type { LaterRun } from "./lists/list-table.ts";
import type { RowWriter } from "./writing/row-writer.ts";

/** The number of executions that are trimmed at the same time. */
const trimmedTogether = 100;

/**
 * Deletes the events of earlier runs, of those executions first whose present run began first. A write is made only if the execution has
 * not begun another run since it was found, so a trim and a commit never disturb each other.
 */
export async function trimExecutions(table: ExecutionTable, writer: RowWriter, options: CheckedTrim): Promise<TrimReport> {
  const { ready, left } = await executionsToTrim(table, options);
  if (options.dryRun) return reportOf(ready, left);
  const trimmed: LaterRun[] = [];
  for (let at = 0; at < ready.length; at += trimmedTogether) {
    const some = ready.slice(at, at + trimmedTogether);
    const written = await Promise.all(some.map((one) => writer.write(trimOf(one))));
    trimmed.push(...some.filter((_, index) => written[index]));
  }
  return reportOf(trimmed, left);
}

/** Finds executions to trim, and those that are left because a load of their present run still needs an event before it. */
async function executionsToTrim({ lists }: ExecutionTable, { before, definitionId, workflowId, limit }: CheckedTrim) {
  for (let wanted = limit; ; ) {
    const found = await lists.earlierRuns({ before, definitionId, id: workflowId ?? null, limit: wanted });
    const isReady = ({ runSince, checkpointVersion }: LaterRun): boolean => checkpointVersion !== null && checkpointVersion >= runSince!;
    const ready = found.filter(isReady);
    const left = found.filter((one) => !isReady(one));
    if (found.length < wanted || ready.length >= limit) return { ready: ready.slice(0, limit), left };
    wanted = limit + left.length;
  }
}

function trimOf({ id, incarnation, runSince }: ExecutionGuard): RowWrite {
  return { kind: "trim", id, when: { incarnation, runSince: runSince! } };
}

function reportOf(trimmed: readonly LaterRun[], left: readonly LaterRun[]): TrimReport {
  const named = ({ id, incarnation }: LaterRun): DeletedExecution => ({ workflowId: id, incarnation });
  return {
    executions: trimmed.length,
    events: trimmed.reduce((sum, one) => sum + one.runSince! - 1 - one.trimmed, 0),
    trimmed: trimmed.map(named),
    left: left.map(named),
  };
}
