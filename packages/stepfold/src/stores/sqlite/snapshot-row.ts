import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event, StartedEvent } from "../../core/snapshot/event.ts";
import { restore } from "../../core/snapshot/restore.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
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

/** What the first event fixed, and what has columns of its own. */
const elsewhere = {
  workflowId: undefined,
  incarnation: undefined,
  definition: undefined,
  metadata: undefined,
  input: undefined,
  createdAt: undefined,
  version: undefined,
  status: undefined,
};

/** The head without what is kept elsewhere: a step writes only what it changes, however large input and metadata are. */
export function headText(head: SnapshotHead): string {
  return JSON.stringify({ ...head, ...elsewhere });
}

/** The whole snapshot. To be called in a transaction: it reads the history too. */
export function snapshotOf({ sql }: Connection, row: HeadRow): Snapshot {
  try {
    const events = sql.history.all(row.seq).map(({ event }) => JSON.parse(event as string) as Event);
    const head = JSON.parse(row.head) as SnapshotHead;
    const { version, status } = row;
    const { workflowId, definition, incarnation, metadata, input, at: createdAt } = events[0] as StartedEvent;
    const fixed = { workflowId, definition, incarnation, metadata, createdAt, version, status };
    const whole = input === undefined ? { ...head, ...fixed } : { ...head, ...fixed, input };
    const children = sql.children
      .all(row.seq)
      .map(({ key, head: text }) => [key as string, JSON.parse(text as string) as ChildHead] as const);
    return restore({ head: whole as SnapshotHead, children, events });
  } catch (cause) {
    // an error of SQLite is no matter of this row
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause;
    const reason = `what is stored of execution "${row.id}" is damaged`;
    throw new StepfoldError("STORE_REJECTED", { store: "sqlite", reason }, { cause });
  }
}
