import type { Status } from "../../core/snapshot/snapshot.ts";
import type { PruneReport } from "../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../kit/checked-store.ts";
import { refuseDelete } from "../kit/verdict.ts";
import type { Connection } from "./connection.ts";
import { sql } from "./statements.ts";

/** Deletes one ended execution and leaves a tombstone in its place. */
export async function deleteExecution(connection: Connection, workflowId: string): Promise<void> {
  const [stored] = await connection.write([
    sql.status(workflowId),
    sql.bury(workflowId, connection.time()),
    sql.deleteEvents(workflowId),
    sql.deleteChildren(workflowId),
    sql.deleteExecution(workflowId),
  ]);
  refuseDelete(workflowId, (stored!.rows[0]?.status ?? null) as Status | null);
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export async function pruneExecutions(
  connection: Connection,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
): Promise<PruneReport> {
  const which = [before, JSON.stringify(statuses), limit, definitionId] as const;
  const time = connection.time();
  const count = sql.countEnded(...which);
  const counted = dryRun
    ? await connection.execute(count)
    : await connection
        .write([
          count,
          sql.buryEnded(...which, time),
          sql.deleteEndedEvents(...which),
          sql.deleteEndedChildren(...which),
          sql.deleteEnded(...which),
          sql.forgetExpired(connection.retentionMs, time),
        ])
        .then(([first]) => first!);
  return { executions: Number(counted.rows[0]?.executions), events: Number(counted.rows[0]?.events) };
}
