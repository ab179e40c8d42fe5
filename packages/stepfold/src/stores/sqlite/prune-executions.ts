import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../core/snapshot/snapshot.ts";
import type { PruneOptions, PruneReport } from "../../ports/snapshot-store.ts";
import { type Connection, reading, writing } from "./connection.ts";

/** Deletes one ended execution. */
export function deleteExecution(connection: Connection, workflowId: string): void {
  writing(connection, () => {
    const stored = connection.sql.execution.get(workflowId) as { seq: number; status: Status } | undefined;
    if (!stored) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    if (!isTerminal(stored.status)) throw new StepfoldError("EXECUTION_OPEN", { workflowId, status: stored.status });
    bury(connection, stored.seq);
  });
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export function pruneExecutions(connection: Connection, options: PruneOptions): PruneReport {
  const { before, statuses = ["completed", "failed", "cancelled"], limit = 1000, dryRun = false } = options;
  if (!Number.isInteger(limit) || limit < 1) {
    throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number, at least 1" });
  }
  const { sql, now, retentionMs } = connection;
  return (dryRun ? reading : writing)(connection, () => {
    let events = 0;
    const found = sql.ended.all(before, JSON.stringify(statuses), limit);
    for (const { seq } of found as { seq: number }[]) {
      events += dryRun ? (sql.countEvents.get(seq)?.events as number) : bury(connection, seq);
    }
    if (!dryRun) sql.forgetExpired.run(now() - retentionMs);
    return { executions: found.length, events };
  });
}

/** Leaves a tombstone in an execution's place. Gives the number of its events. */
function bury({ sql, now }: Connection, seq: number): number {
  sql.bury.run(seq, now());
  sql.deleteExecution.run(seq);
  sql.deleteChildren.run(seq);
  return Number(sql.deleteEvents.run(seq).changes);
}
