import { findSummaries } from "../../ports/list-fallbacks.ts";
import { readHistory } from "../../ports/read-history.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { DeletedExecution, TrimOptions, TrimReport } from "../../ports/store-removal.ts";
import type { EndedExecution } from "./ended-execution.ts";

/** The most executions that one call of the store trims, because every call has to be answered within the runtime's time limit. */
const trimmedTogether = 100;

/** Deletes the events of earlier runs, in parts. With `keepEvents`, the events of each execution are passed to it before that. */
export async function trim(
  store: SnapshotStore,
  { limit = 1000, ...which }: TrimOptions,
  keepEvents?: (execution: EndedExecution) => Promise<void>,
): Promise<TrimReport> {
  if (which.dryRun) return store.trim({ ...which, limit });
  let report: TrimReport = { executions: 0, events: 0, trimmed: [], left: [] };
  if (keepEvents) {
    for (const found of (await store.trim({ ...which, limit, dryRun: true })).trimmed) {
      const part = await trimOne(store, which, found, keepEvents);
      if (part) report = sumOf(report, part);
    }
    return report;
  }
  for (;;) {
    const wanted = Math.min(limit - report.executions, trimmedTogether);
    const part = await store.trim({ ...which, limit: wanted });
    report = { ...sumOf(report, part), left: part.left };
    if (part.executions < wanted || report.executions === limit) return report;
  }
}

/** Trims one execution. Null: there is nothing to trim any more. */
async function trimOne(
  store: SnapshotStore,
  which: TrimOptions,
  { workflowId, incarnation }: DeletedExecution,
  keepEvents: (execution: EndedExecution) => Promise<void>,
): Promise<TrimReport | null> {
  const head = await store.loadHead(workflowId);
  const [summary] = await findSummaries(store, [workflowId]);
  if (!head?.run || head.incarnation !== incarnation || !summary || head.run.at >= which.before) return null;
  const { number: beforeRun, since, at } = head.run;
  const events = (await readHistory(store, workflowId, since - 1)).filter(({ version }) => version < since);
  await keepEvents({ ...summary, beforeRun, events });
  // no later run: its events were not passed on
  return store.trim({ ...which, workflowId, before: Math.min(which.before, at + 1) });
}

function sumOf(one: TrimReport, other: TrimReport): TrimReport {
  return {
    executions: one.executions + other.executions,
    events: one.events + other.events,
    trimmed: [...one.trimmed, ...other.trimmed],
    left: [...one.left, ...other.left],
  };
}
