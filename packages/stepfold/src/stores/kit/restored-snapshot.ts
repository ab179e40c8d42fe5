import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { latestMetadata } from "../../core/reading/latest-metadata.ts";
import type { Event, StartedEvent } from "../../core/snapshot/event.ts";
import type { HistoryCheckpoint } from "../../core/snapshot/history-checkpoint.ts";
import { restore } from "../../core/snapshot/restore.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";

/** The key under which the last checkpoint of an execution lies among its children. No child has it. */
export const checkpointKey = "";

/** An execution as its rows hold it, all of one version. */
export interface StoredRows {
  readonly workflowId: string;
  readonly version: number;
  readonly status: Status;
  /** JSON; see `headText`. */
  readonly head: string;
  /** JSON of every event after the last checkpoint, oldest first. Those after `version` do not count, nor do earlier ones. */
  readonly events: readonly string[];
  /** JSON of the children by key, in order of creation. */
  readonly children: readonly (readonly [key: string, head: string])[];
}

/**
 * The whole snapshot.
 *
 * @param store its name, for the error
 * @throws StepfoldError `STORE_REJECTED` if the rows are damaged
 */
export function restoredSnapshot(store: string, rows: StoredRows): Snapshot {
  const { workflowId, version, status } = rows;
  return unlessDamaged(store, workflowId, () => {
    const checkpoint = checkpointIn(rows);
    const events = eventsAfter(checkpoint?.version ?? -1, rows);
    const { at, ...started } = (checkpoint ? { ...checkpoint, at: checkpoint.createdAt } : events[0]) as StartedEvent;
    const { definition, incarnation, tenant, input } = started;
    const metadata = latestMetadata(events) ?? started.metadata;
    const createdAt = at === undefined ? {} : { createdAt: at };
    const fixed = { workflowId, definition, incarnation, metadata, ...(tenant !== undefined && { tenant }), ...createdAt, version, status };
    const head = JSON.parse(rows.head) as SnapshotHead;
    const whole = (input === undefined ? { ...head, ...fixed } : { ...head, ...fixed, input }) as SnapshotHead;
    const children = rows.children.filter(([key]) => key !== checkpointKey);
    return restore({
      head: whole,
      children: children.map(([key, child]) => [key, JSON.parse(child) as ChildHead] as const),
      events,
      checkpoint,
    });
  });
}

/** The checkpoint that the rows begin with; null: there was none. */
function checkpointIn({ children }: StoredRows): HistoryCheckpoint | null {
  const text = children.find(([key]) => key === checkpointKey)?.[1];
  if (text === undefined) return null;
  const checkpoint = JSON.parse(text) as HistoryCheckpoint;
  return checkpoint.context ? checkpoint : damaged("the checkpoint holds nothing");
}

function damaged(reason: string): never {
  throw new TypeError(reason);
}

/** The events from a version on to that of the head: each version is one event. */
function eventsAfter(first: number, { version, events: texts }: StoredRows): Event[] {
  const all = texts.map((event) => JSON.parse(event) as Event);
  const isWhole = all.length === version - first && (all.at(-1)?.version ?? version) === version;
  const events = isWhole ? all : all.filter((event) => event.version > first && event.version <= version);
  return events.length === version - first ? events : damaged("events are missing");
}

/** What `read` makes of rows. @throws StepfoldError `STORE_REJECTED` if they are damaged */
export function unlessDamaged<T>(store: string, workflowId: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    // an error of the database is no matter of these rows
    if (!(cause instanceof SyntaxError || cause instanceof TypeError || StepfoldError.is(cause, "SNAPSHOT_INVALID"))) throw cause;
    const reason = `what is stored of execution "${workflowId}" is damaged`;
    throw new StepfoldError("STORE_REJECTED", { store, reason }, { cause });
  }
}
