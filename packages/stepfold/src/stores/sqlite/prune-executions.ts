import type { Status } from "../../core/snapshot/snapshot.ts";
import type { PruneReport } from "../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../kit/checked-store.ts";
import { refuseDelete } from "../kit/verdict.ts";
import { type Connection, reading, writing } from "./connection.ts";

/** Deletes one ended execution. */
export function deleteExecution(connection: Connection, workflowId: string): void {
  writing(connection, () => {
    const stored = connection.sql.execution.get(workflowId) as { seq: number; status: Status } | undefined;
    refuseDelete(workflowId, stored?.status ?? null);
    bury(connection, stored!.seq);
  });
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export function pruneExecutions(connection: Connection, { before, definitionId, statuses, limit, dryRun }: CheckedPrune): PruneReport {
  const { sql, now, retentionMs } = connection;
  return (dryRun ? reading : writing)(connection, () => {
    let events = 0;
    const found = sql.ended.all(before, JSON.stringify(statuses), limit, definitionId);
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
