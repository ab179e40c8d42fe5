import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import { restoredSnapshot } from "../kit/restored-snapshot.ts";
import type { Connection } from "./connection.ts";

/** What of an execution's row makes its snapshot. */
export interface HeadRow {
  readonly seq: number;
  readonly id: string;
  readonly incarnation: string;
  readonly version: number;
  readonly status: Status;
  readonly head: string;
}

/** The whole snapshot. To be called in a transaction: it reads the history too. */
export function snapshotOf({ sql }: Connection, { seq, id: workflowId, version, status, head }: HeadRow): Snapshot {
  const events = sql.history.all(seq).map(({ event }) => event as string);
  const children = sql.children.all(seq).map((child) => [child.key as string, child.head as string] as const);
  return restoredSnapshot("sqlite", { workflowId, version, status, head, events, children });
}
