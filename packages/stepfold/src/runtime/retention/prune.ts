import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import { aCount, aFlag, aFunction, aText, checkOptions, must, type OptionCheck } from "../../core/values/check-arguments.ts";
import type { ExecutionSummary } from "../../ports/execution-list.ts";
import { readHistory } from "../../ports/read-history.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { DeletedExecution, PruneOptions, PruneReport, TrimOptions, TrimReport } from "../../ports/store-removal.ts";
import type { EndedExecution } from "./ended-execution.ts";
import { trim } from "./trim.ts";

/** What `runtime.prune` deleted, or would delete. */
export interface PruneWithHistoryReport extends PruneReport {
  /** The earlier runs of other executions, open or ended. */
  readonly earlierRuns: TrimReport;
}

/** Selects the ended executions to delete, and says what happens to their histories. */
export interface PruneWithHistoryOptions extends PruneOptions {
  /**
   * Called with each execution before it, or earlier runs of it, are deleted, one after the other; they are deleted once this has resolved.
   * If the function throws, the prune ends and they stay. After a crash the function is called again with the same execution and the same
   * events, so it is called at least once. It is not called with `dryRun`.
   */
  readonly keepEvents?: ((execution: EndedExecution) => Promise<void>) | undefined;
}

/** The statuses of executions that have ended. */
const terminal = ["completed", "failed", "cancelled"] as const;
const checks: { readonly [K in keyof PruneWithHistoryOptions]-?: OptionCheck } = {
  before: must("be a time in epoch milliseconds", Number.isFinite),
  ...{ definitionId: aText, limit: aCount, dryRun: aFlag, keepEvents: aFunction },
  statuses: must(
    `be a list of some of ${terminal.join(", ")}: nothing else has ended`,
    (value) => Array.isArray(value) && value.every((status) => terminal.includes(status)),
  ),
};
/** The most executions that one call of the store deletes, because every call has to be answered within the runtime's time limit. */
export const prunedTogether = 100;
/** The default of `limit`, the same as in a store. */
const defaultLimit = 1000;
/** The number of executions in one page of the list. */
const pageSize = 1000;

/**
 * Deletes executions that ended a while ago, the oldest first, and earlier runs of others that did; passes the history of each to
 * `keepEvents` before that. With `statuses`, earlier runs stay.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export async function prune(store: SnapshotStore, options: PruneWithHistoryOptions): Promise<PruneWithHistoryReport> {
  checkOptions("runtime.prune", options, checks, ["before"]);
  const { keepEvents, statuses, ...which } = options;
  const pruned = await pruneEnded(store, options);
  // executions that are open have none of the statuses, so a call that names some does not mean them
  const earlierRuns = statuses ? { executions: 0, events: 0, trimmed: [], left: [] } : await trim(store, which, keepEvents);
  return { ...pruned, earlierRuns: which.dryRun ? await without(store, which, earlierRuns, pruned.deleted) : earlierRuns };
}

/** Takes executions out of the report of a dry run that are deleted as a whole before. */
async function without(
  store: SnapshotStore,
  which: TrimOptions,
  report: TrimReport,
  deleted: readonly DeletedExecution[],
): Promise<TrimReport> {
  const gone = new Set(deleted.map(({ incarnation }) => incarnation));
  let { executions, events } = report;
  for (const { workflowId } of report.trimmed.filter(({ incarnation }) => gone.has(incarnation))) {
    const one = await store.trim({ ...which, workflowId });
    executions -= one.executions;
    events -= one.events;
  }
  return { ...report, executions, events, trimmed: report.trimmed.filter(({ incarnation }) => !gone.has(incarnation)) };
}

async function pruneEnded(store: SnapshotStore, { keepEvents, ...which }: PruneWithHistoryOptions): Promise<PruneReport> {
  if (which.dryRun) return store.prune(which);
  if (!keepEvents) return pruneInParts(store, which);
  // the dry run of the store counts the executions
  const { executions: count } = await store.prune({ ...which, dryRun: true });
  const pruned: DeletedExecution[] = [];
  let events = 0;
  for (const summary of count === 0 ? [] : await oldestEnded(store, which, count)) {
    const history = await historyOf(store, summary);
    // another process has deleted it meanwhile
    if (history === null) continue;
    await keepEvents(history);
    if (!(await deleteEnded(store, history))) continue;
    const { incarnation = "" } = history.events[0]!.event as StartedEvent;
    pruned.push({ workflowId: summary.workflowId, incarnation });
    events += history.events.length;
  }
  return { executions: pruned.length, events, deleted: pruned };
}

async function pruneInParts(store: SnapshotStore, { limit = defaultLimit, ...which }: PruneOptions): Promise<PruneReport> {
  let [executions, events] = [0, 0];
  const deleted: DeletedExecution[] = [];
  for (;;) {
    const wanted = Math.min(limit - executions, prunedTogether);
    const part = await store.prune({ ...which, limit: wanted });
    executions += part.executions;
    events += part.events;
    deleted.push(...part.deleted);
    if (part.executions < wanted || executions === limit) return { executions, events, deleted };
  }
}

/** Returns those `count` of the executions to prune whose last change is the longest ago. */
async function oldestEnded(store: SnapshotStore, which: PruneOptions, count: number): Promise<readonly ExecutionSummary[]> {
  const { before, definitionId, statuses: status = terminal } = which;
  const query = { status, createdBefore: before, limit: pageSize, ...(definitionId !== undefined && { definitionId }) };
  let oldest: ExecutionSummary[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list(cursor === undefined ? query : { ...query, cursor });
    oldest.push(...page.items.filter(({ updatedAt }) => updatedAt < before));
    cursor = page.nextCursor;
    // all others are dropped, because the list may be very long
    if (oldest.length > count + pageSize || cursor === null) oldest = oldest.sort((a, b) => a.updatedAt - b.updatedAt).slice(0, count);
  }
  return oldest;
}

/** Loads the history of an execution; null if the execution is gone or has changed. */
async function historyOf(store: SnapshotStore, summary: ExecutionSummary): Promise<EndedExecution | null> {
  const { workflowId, version } = summary;
  const events = await readHistory(store, workflowId, version);
  // a trim may have left a gap behind the first event
  return events[0]?.version === 0 && events.at(-1)!.version === version ? { ...summary, events } : null;
}

/** Deletes an execution. Returns false if another process has deleted it, or another execution has its id now. */
async function deleteEnded(store: SnapshotStore, { workflowId, events }: EndedExecution): Promise<boolean> {
  const [first] = await store.events(workflowId, -1, 1);
  if (first?.commitId !== events[0]!.commitId) return false;
  try {
    await store.delete(workflowId);
    return true;
  } catch (error) {
    if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND") || StepfoldError.is(error, "EXECUTION_OPEN")) return false;
    throw error;
  }
}
