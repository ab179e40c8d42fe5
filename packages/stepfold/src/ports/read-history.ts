import type { AppendedRow, SnapshotStore } from "./snapshot-store.ts";

/** The most rows to ask for at once. A store may return fewer. */
const pageSize = 1000;

/**
 * Reads the whole history of an execution, page by page; empty if there is none.
 *
 * @param afterVersion reads only the events after this version
 * @param lastVersion the last version of the execution, if it is known: saves the last, empty page
 */
export async function readHistory(
  store: Pick<SnapshotStore, "events">,
  workflowId: string,
  lastVersion: number = Number.POSITIVE_INFINITY,
  afterVersion = -1,
): Promise<AppendedRow[]> {
  const rows: AppendedRow[] = [];
  for (let version = afterVersion; version < lastVersion; version = rows.at(-1)!.version) {
    const next = await store.events(workflowId, version, pageSize);
    if (next.length === 0) break;
    rows.push(...next);
  }
  return rows;
}
