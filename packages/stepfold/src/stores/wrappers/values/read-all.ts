import type { StartedEvent } from "../../../core/snapshot/event.ts";
import type { AppendedRow, SnapshotStore } from "../../../ports/snapshot-store.ts";

const rowsAtOnce = 1000;

/** The whole history of an execution; empty if there is none. */
export async function historyOf(store: SnapshotStore, workflowId: string): Promise<AppendedRow[]> {
  const rows: AppendedRow[] = [];
  for (;;) {
    const next = await store.events(workflowId, rows.at(-1)?.version ?? -1, rowsAtOnce);
    rows.push(...next);
    if (next.length < rowsAtOnce) return rows;
  }
}

/** Its first row; undefined if there is none. */
export async function firstRow(store: SnapshotStore, workflowId: string): Promise<AppendedRow | undefined> {
  return (await store.events(workflowId, -1, 1))[0];
}

/** Tells two executions of one id apart. */
export function incarnationIn(row: AppendedRow): string | undefined {
  return (row.event as StartedEvent).incarnation;
}

/** Rows by the commit that wrote them. */
export function commitsIn(rows: readonly AppendedRow[]): AppendedRow[][] {
  const commits: AppendedRow[][] = [];
  for (const row of rows) {
    const last = commits.at(-1);
    if (last?.[0]?.commitId === row.commitId) last.push(row);
    else commits.push([row]);
  }
  return commits;
}
