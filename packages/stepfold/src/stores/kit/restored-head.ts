import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { ListedRow } from "./execution-table.ts";
import { givenMetadata } from "./metadata-column.ts";
import { unlessDamaged } from "./restored-snapshot.ts";

/** The head in a row. @throws StepfoldError `STORE_REJECTED` if the row is damaged */
export function restoredHead(store: string, { id: workflowId, incarnation, version, status, ...row }: ListedRow): SnapshotHead {
  return unlessDamaged(store, workflowId, () => {
    const head = JSON.parse(row.head) as SnapshotHead;
    const definition = JSON.parse(row.definition) as SnapshotHead["definition"];
    const given = givenMetadata(JSON.parse(row.metadata) as SnapshotHead["metadata"]);
    return { ...head, workflowId, definition, incarnation, ...given, createdAt: row.createdAt, version, status };
  });
}
