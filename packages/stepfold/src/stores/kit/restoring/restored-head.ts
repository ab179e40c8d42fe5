import type { Event } from "../../../core/snapshot/event.ts";
import { valueInEvents, valuesInEvents, wholeHead } from "../../../core/snapshot/large-values.ts";
import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionTable } from "../execution-table.ts";
import type { ListedRow } from "../lists/list-table.ts";
import { givenMetadata } from "../lists/metadata-column.ts";
import { unlessDamaged } from "./restored-snapshot.ts";

/** Reads the head in a row. @throws StepfoldError `STORE_REJECTED` if the row is damaged */
export function restoredHead(store: string, { id: workflowId, incarnation, version, status, ...row }: ListedRow): SnapshotHead {
  return unlessDamaged(store, workflowId, () => {
    const head = JSON.parse(row.head) as SnapshotHead;
    // a run may follow another definition than the one of the start, which is in the row
    const definition = head.definition ?? (JSON.parse(row.definition) as SnapshotHead["definition"]);
    const { waits: _, ...given } = givenMetadata(JSON.parse(row.metadata) as SnapshotHead["metadata"]);
    return { ...head, workflowId, definition, incarnation, ...given, createdAt: row.createdAt, version, status };
  });
}

/**
 * Completes a head with its large values, which the store keeps in events only. Reads one row for each such event.
 *
 * @throws StepfoldError `STORE_REJECTED` if a value is missing
 */
export async function wholeHeadOf(table: Pick<ExecutionTable, "name" | "events">, head: SnapshotHead): Promise<SnapshotHead> {
  const missing = [...valuesInEvents(head)].filter(([, value]) => value === undefined);
  if (missing.length === 0) return head;
  const { workflowId } = head;
  const versions = new Set(missing.map(([at]) => Number(at.split("/", 1)[0])));
  const rows = (await Promise.all([...versions].map((version) => table.events(workflowId, version - 1, 1)))).flat();
  return unlessDamaged(table.name, workflowId, () => {
    const found = new Map(rows.map(({ version, text }) => [version, JSON.parse(text) as Event]));
    return wholeHead(head, (at) => {
      const event = found.get(Number(at.split("/", 1)[0]));
      const value = event && valueInEvents([event], at);
      if (value === undefined) throw new TypeError("a large value is missing");
      return value;
    });
  });
}
