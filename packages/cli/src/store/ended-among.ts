import { type EpochMs, isTerminal } from "stepfold";
import { durationText } from "stepfold/core";
import { findSummaries } from "stepfold/runtime";
import type { Store } from "./database.ts";

/** The most ids of one call of a store. */
const pageSize = 200;
/** An end that is newer is not looked at, because others may just be hearing of it. */
const graceMs = 60_000;

/**
 * Finds those of some executions that have ended or do not exist, and says since when: `is failed for 3 min`. Executions that have ended
 * within the last minute are left out.
 */
export async function endedAmong(store: Store, ids: Iterable<string>, now: EpochMs): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const all = [...new Set(ids)];
  for (let first = 0; first < all.length; first += pageSize) {
    const part = all.slice(first, first + pageSize);
    const summaries = new Map((await findSummaries(store, part)).map((summary) => [summary.workflowId, summary]));
    for (const id of part) {
      const summary = summaries.get(id);
      // without a call for summaries they come from a list, which may not reach back to an old execution
      if (!summary && !(await store.loadHead(id))) found.set(id, "does not exist");
      if (!summary || !isTerminal(summary.status)) continue;
      const endedMs = now - summary.updatedAt;
      if (endedMs > graceMs) found.set(id, `is ${summary.status} for ${durationText(endedMs)}`);
    }
  }
  return found;
}
