import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { PruneReport } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../../kit/checked-store.ts";
import { refuseDelete } from "../../kit/verdict.ts";
import { deleteScript, pruneScript } from "./prune-scripts.ts";
import { listOf, said } from "./redis-reply.ts";
import { damaged, type ScriptStore } from "./script-store.ts";

/** Most executions that one script deletes. */
const mostDeleted = 50;

/** Deletes one ended execution. */
export async function deleteExecution({ name, keys, run, retention }: ScriptStore, workflowId: string): Promise<void> {
  const [status] = listOf(await run(deleteScript, [keys.due, keys.head(workflowId)], [retention]));
  if (said(status) === "damaged") throw damaged(name, workflowId);
  refuseDelete(workflowId, said(status) as Status | null);
}

/** Deletes ended executions, those first that were changed least recently. In parts: a call that fails has done some of them. */
export async function pruneExecutions(
  { keys, run, retention }: ScriptStore,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
): Promise<PruneReport> {
  const report = { executions: 0, events: 0 };
  const definition = definitionId === null ? "*" : `=${definitionId}`;
  let [at, seq] = ["", ""];
  if (statuses.length === 0) return report;
  do {
    const most = Math.min(mostDeleted, limit - report.executions);
    const args = [String(before), dryRun ? "1" : "", String(most), retention, at, seq, definition, ...statuses];
    const reply = listOf(await run(pruneScript, [keys.due], args)).map(said);
    [at, seq] = [reply[0] ?? "", reply[1] ?? ""];
    report.executions += Number(reply[2]);
    report.events += Number(reply[3]);
  } while (at !== "" && report.executions < limit);
  return report;
}
