import { isTerminal, type Status } from "../core/snapshot/snapshot.ts";
import {
  durationBoundsMs,
  durationClassOf,
  type EndedSeries,
  type EndStatus,
  type ExecutionCounts,
  type SeriesQuery,
} from "./execution-counts.ts";
import type { CountQuery, ExecutionSummary, ListQuery } from "./execution-list.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

// Questions that a store may answer by itself (`count`, `summaries`, `ended`). If it does not, they are answered from `list`.

/** The most executions that one call looks at. */
const maxLooked = 20_000;
/** The most pages that one call asks for. A store may return short pages, so this limit may come first. */
const maxPages = 20;

const terminal: readonly EndStatus[] = ["completed", "failed", "cancelled"];
const noCounts: ExecutionCounts["counts"] = { active: 0, paused: 0, error: 0, parked: 0, completed: 0, failed: 0, cancelled: 0 };

/** The default number at which counting a status stops. */
export const defaultAtMost = 10_000;

/**
 * Counts executions by their status. Uses `count` of the store if there is one, else its lists, and then looks at 20,000 executions at
 * most.
 *
 * @param atMost the number at which counting a status stops; default 10,000
 * @throws StepfoldError `OPTION_INVALID`
 */
export async function countExecutions(
  store: Pick<SnapshotStore, "list" | "count">,
  query: CountQuery = {},
  atMost: number = defaultAtMost,
): Promise<ExecutionCounts> {
  if (store.count) return store.count(query, atMost);
  const counts = new Map<Status, number>();
  const { status: asked = Object.keys(noCounts) } = query;
  const isFull = (): boolean => asked.every((status) => counts.get(status as Status) === atMost);
  const { looked, complete } = await look(store, query, ({ status }) => {
    counts.set(status, Math.min(atMost, (counts.get(status) ?? 0) + 1));
    return !isFull();
  });
  return { ...countsOf(counts, atMost), complete, looked };
}

/** Returns the counts with 0 for each missing status, and whether one of them reached `atMost`. */
export function countsOf(counts: ReadonlyMap<Status, number>, atMost: number): Pick<ExecutionCounts, "counts" | "capped"> {
  return { counts: { ...noCounts, ...Object.fromEntries(counts) }, capped: [...counts.values()].some((count) => count >= atMost) };
}

/**
 * Finds executions by their ids; unknown ids are left out. Uses `summaries` of the store if there is one, else its lists, which finds
 * only executions among the newest 20,000.
 */
export async function findSummaries(
  store: Pick<SnapshotStore, "list" | "summaries">,
  workflowIds: readonly string[],
): Promise<readonly ExecutionSummary[]> {
  if (store.summaries) return store.summaries(workflowIds);
  const wanted = new Set(workflowIds);
  const found: ExecutionSummary[] = [];
  await look(store, {}, (item) => {
    if (wanted.delete(item.workflowId)) found.push(item);
    return wanted.size > 0;
  });
  return found;
}

/**
 * Counts the executions that ended in a period. Uses `ended` of the store if there is one, else its lists, and then looks at 20,000
 * executions at most.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export async function endedSeries(store: Pick<SnapshotStore, "list" | "ended">, query: SeriesQuery): Promise<EndedSeries> {
  if (store.ended) return store.ended(query);
  const series = emptySeries(query);
  const { definitionId } = query;
  const which = { status: terminal, createdBefore: query.to, ...(definitionId !== undefined && { definitionId }) };
  const { looked, complete } = await look(store, which, ({ status, createdAt, updatedAt }) => {
    // an ended execution does not change any more, so `updatedAt` is the time of its end
    if (isTerminal(status)) series.add(updatedAt, status as EndStatus, durationClassOf(updatedAt - createdAt));
    return true;
  });
  return { buckets: series.buckets, complete, looked };
}

/** The length of one part of the period, in whole milliseconds. It is rounded up, so the last parts may be shorter, or begin after `to`. */
export function bucketMs({ from, to, buckets }: SeriesQuery): number {
  return Math.ceil((to - from) / buckets);
}

/** An empty series, and a function that adds counts to it. Ends outside of the period are ignored. */
export function emptySeries(query: SeriesQuery): {
  readonly buckets: EndedSeries["buckets"];
  add(endedAt: number, status: EndStatus, durationClass: number, amount?: number): void;
} {
  const length = bucketMs(query);
  const none = (): number[] => Array<number>(durationBoundsMs.length + 1).fill(0);
  const buckets = Array.from({ length: query.buckets }, (_, index) => ({
    from: query.from + index * length,
    durations: { completed: none(), failed: none(), cancelled: none() },
  }));
  return {
    buckets,
    add(endedAt, status, durationClass, amount = 1) {
      if (endedAt < query.from || endedAt >= query.to) return;
      buckets[Math.floor((endedAt - query.from) / length)]!.durations[status][durationClass]! += amount;
    },
  };
}

/** Calls `see` with the listed executions until it returns false. `complete` is false if the limits of one call ended the search. */
async function look(
  store: Pick<SnapshotStore, "list">,
  query: ListQuery,
  see: (item: ExecutionSummary) => boolean,
): Promise<{ readonly looked: number; readonly complete: boolean }> {
  let looked = 0;
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages && looked < maxLooked; pages++) {
    const page = await store.list({ ...query, limit: 1000, ...(cursor !== null && { cursor }) });
    looked += page.items.length;
    if (!page.items.every(see)) return { looked, complete: true };
    if (page.nextCursor === null) return { looked, complete: true };
    cursor = page.nextCursor;
  }
  return { looked, complete: false };
}
