import type { StartedEvent } from "../../../core/snapshot/event.ts";
import type { ExecutionSummary, ListQuery } from "../../../ports/execution-list.ts";
import type { AppendedRow, SnapshotStore } from "../../../ports/snapshot-store.ts";

/** The most executions that a store returns in one page. */
const pageSize = 1000;

type ListFilter = Omit<ListQuery, "limit" | "cursor">;

/** Reads every execution that matches a filter, page by page, newest first. */
export async function* readExecutions(store: SnapshotStore, filter: ListFilter = {}): AsyncGenerator<ExecutionSummary, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ ...filter, limit: pageSize, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  }
}

/** Reads every execution that matches a filter into one list, so that changes during the work with them do not affect it. */
export async function listExecutions(store: SnapshotStore, filter: ListFilter): Promise<ExecutionSummary[]> {
  const items: ExecutionSummary[] = [];
  for await (const item of readExecutions(store, filter)) items.push(item);
  return items;
}

/** Sorts executions that were listed newest first: the longest unchanged come first; at equal times the oldest. */
export function longestUnchangedFirst(listed: readonly ExecutionSummary[]): ExecutionSummary[] {
  return [...listed].reverse().sort((a, b) => a.updatedAt - b.updatedAt);
}

/** Reads the first row of the history of an execution; undefined if there is no history. */
export async function firstRow(store: Pick<SnapshotStore, "events">, workflowId: string): Promise<AppendedRow | undefined> {
  return (await store.events(workflowId, -1, 1))[0];
}

/** Reads the incarnation of an execution from its first event; null if there is no execution. */
export async function incarnationOf(store: Pick<SnapshotStore, "events">, workflowId: string): Promise<string | null> {
  const row = await firstRow(store, workflowId);
  return row ? incarnationIn(row) : null;
}

/** Reads the incarnation in the first row of a history. */
export function incarnationIn({ event }: AppendedRow): string {
  return (event as StartedEvent).incarnation ?? "";
}
