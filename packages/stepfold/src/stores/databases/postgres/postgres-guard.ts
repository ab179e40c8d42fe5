import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionGuard } from "../../kit/execution-table.ts";
import type { TextRow } from "./postgres-session.ts";
import { idOf } from "./postgres-text.ts";

/** The columns of a guard, as text. */
export const guardColumns = `seq::text, id, incarnation, version::text, status, wake_at::text, due_at::text, owner, fence::text, crashes::text,
  permit_key, permit_limit::text, deleted_at::text`;

/** The guard in a row. */
export function guardOf(row: TextRow): ExecutionGuard {
  const limit = numberIn(row, "permit_limit");
  return {
    id: idOf(row.id!),
    seq: Number(row.seq),
    incarnation: idOf(row.incarnation!),
    version: Number(row.version),
    status: row.status as Status,
    wakeAt: numberIn(row, "wake_at"),
    dueAt: numberIn(row, "due_at"),
    owner: row.owner === null ? null : idOf(row.owner!),
    fence: Number(row.fence),
    crashes: Number(row.crashes),
    permit: limit === null ? null : { key: idOf(row.permit_key!), limit },
    deletedAt: numberIn(row, "deleted_at"),
  };
}

function numberIn(row: TextRow, column: string): number | null {
  const text = row[column];
  return text == null ? null : Number(text);
}
