import type { AppendedRow, SnapshotStore } from "./snapshot-store.ts";

/** The most rows that a store gives at once. */
const pageSize = 1000;

/** Reads the whole history of an execution, page by page; empty if there is none. */
export async function readHistory(store: Pick<SnapshotStore, "events">, workflowId: string): Promise<AppendedRow[]> {
  const rows: AppendedRow[] = [];
  for (;;) {
    const next = await store.events(workflowId, rows.at(-1)?.version ?? -1, pageSize);
    rows.push(...next);
    if (next.length < pageSize) return rows;
  }
}
