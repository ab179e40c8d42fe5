import type { AppendedRow, SnapshotStore } from "./snapshot-store.ts";

/** The most rows that are asked for at once. A store may give fewer. */
const pageSize = 1000;

/**
 * Reads the whole history of an execution, page by page; empty if there is none.
 *
 * @param lastVersion ends there without asking for more, where it is known
 */
export async function readHistory(
  store: Pick<SnapshotStore, "events">,
  workflowId: string,
  lastVersion: number = Number.POSITIVE_INFINITY,
): Promise<AppendedRow[]> {
  const rows: AppendedRow[] = [];
  for (let version = -1; version < lastVersion; version = rows.at(-1)!.version) {
    const next = await store.events(workflowId, version, pageSize);
    if (next.length === 0) break;
    rows.push(...next);
  }
  return rows;
}
