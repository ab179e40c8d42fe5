import type { StartedEvent } from "../../../core/snapshot/event.ts";
import type { AppendedRow, ExecutionSummary, ListQuery, SnapshotStore } from "../../../ports/snapshot-store.ts";

/** The most that a store gives in one page. */
const pageSize = 1000;

type ListFilter = Omit<ListQuery, "limit" | "cursor">;

/** Reads every execution that fits a filter, page by page, newest first. */
export async function* readExecutions(store: SnapshotStore, filter: ListFilter = {}): AsyncGenerator<ExecutionSummary, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ ...filter, limit: pageSize, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  }
}

/** Reads every execution that fits a filter before it returns: what becomes of them later does not change the list. */
export async function listExecutions(store: SnapshotStore, filter: ListFilter): Promise<ExecutionSummary[]> {
  const items: ExecutionSummary[] = [];
  for await (const item of readExecutions(store, filter)) items.push(item);
  return items;
}

/** Sorts what a store has listed, newest first: the longest unchanged come first, and of those changed at one time the oldest. */
export function longestUnchangedFirst(listed: readonly ExecutionSummary[]): ExecutionSummary[] {
  return [...listed].reverse().sort((a, b) => a.updatedAt - b.updatedAt);
}

/** Reads the first row of the history of an execution; undefined if there is none. */
export async function firstRow(store: Pick<SnapshotStore, "events">, workflowId: string): Promise<AppendedRow | undefined> {
  return (await store.events(workflowId, -1, 1))[0];
}

/** Reads the incarnation of an execution, which its first event names; null if there is no execution. */
export async function incarnationOf(store: Pick<SnapshotStore, "events">, workflowId: string): Promise<string | null> {
  const row = await firstRow(store, workflowId);
  return row ? incarnationIn(row) : null;
}

/** Reads the incarnation in the first row of a history. */
export function incarnationIn({ event }: AppendedRow): string {
  return (event as StartedEvent).incarnation ?? "";
}
