import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, Page } from "../../ports/snapshot-store.ts";
import { crashesOfEnded } from "./claims/claim-count.ts";
import type { ListCursor, ListedRow } from "./execution-table.ts";
import { givenMetadata } from "./metadata-column.ts";

/**
 * Fills a page, asking for rows as often as it takes: a damaged row is passed over, and must not end the list.
 *
 * @param next rows after a place, newest first, at most as many as asked for
 */
export async function executionPage(
  limit: number,
  cursor: string | undefined,
  next: (after: ListCursor | null, limit: number) => Promise<readonly ListedRow[]>,
): Promise<Page<ExecutionSummary>> {
  const items: ExecutionSummary[] = [];
  let last: ListCursor | null = null;
  for (let after = cursor === undefined ? null : readCursor(cursor); ; ) {
    const wanted = limit - items.length + 1;
    const rows = await next(after, wanted);
    for (const row of rows) {
      if (items.length === limit) return { items, nextCursor: `${last!.createdAt}.${last!.seq}` };
      after = row;
      const summary = summaryOf(row);
      if (!summary) continue;
      items.push(summary);
      last = row;
    }
    if (rows.length < wanted) return { items, nextCursor: null };
  }
}

/** Null for a damaged row. */
function summaryOf(row: ListedRow): ExecutionSummary | null {
  const { id: workflowId, version, status, createdAt, updatedAt, wakeAt, owner, dueAt, crashes } = row;
  try {
    const { currentNodeId } = JSON.parse(row.head) as SnapshotHead;
    const definition = JSON.parse(row.definition) as ExecutionSummary["definition"];
    const given = givenMetadata(JSON.parse(row.metadata) as ExecutionSummary["metadata"]);
    const lease = owner === null || dueAt === null ? null : { owner, until: dueAt, crashes: crashesOfEnded(crashes) };
    return { workflowId, definition, status, currentNodeId, version, ...given, createdAt, updatedAt, wakeAt, lease };
  } catch {
    return null;
  }
}

/** @throws StepfoldError `OPTION_INVALID` for a cursor that no page gave */
function readCursor(cursor: string): ListCursor {
  const parts = /^(-?\d{1,16})\.(\d{1,16})$/.exec(cursor);
  if (!parts) throw new StepfoldError("OPTION_INVALID", { option: "cursor", reason: "is none that this store gave out" });
  return { createdAt: Number(parts[1]), seq: Number(parts[2]) };
}
