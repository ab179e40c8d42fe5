import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { PruneReport } from "../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../kit/checked-store.ts";
import { refuseDelete } from "../kit/verdict.ts";
import type { Connection } from "./connection.ts";
import { joined, plainText, wholeText } from "./plain-text.ts";
import { readGuard } from "./stored-guard.ts";

/** Deletes one ended execution. */
export async function deleteExecution(connection: Connection, workflowId: string): Promise<void> {
  const { ask, sql } = connection;
  for (;;) {
    const [row] = await ask(sql.delete, [plainText(workflowId)]);
    if (Number(row!.executions) > 0) return;
    const status = (await readGuard(connection, workflowId, 0)).guard?.status ?? null;
    // one that has just ended is found the next time
    if (status === null || !isTerminal(status)) return refuseDelete(workflowId, status);
  }
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export async function pruneExecutions(
  connection: Connection,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
): Promise<PruneReport> {
  const { askAnew, sql, retentionMs } = connection;
  const values = [wholeText(before), joined(statuses), wholeText(limit), definitionId === null ? null : plainText(definitionId)];
  const [row] = await (dryRun ? askAnew(sql.countEnded, values) : askAnew(sql.prune, [...values, retentionMs]));
  return { executions: Number(row!.executions), events: Number(row!.events) };
}
