import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Event, StartedEvent } from "../../../core/snapshot/event.ts";
import type { HistoryCheckpoint } from "../../../core/snapshot/history-checkpoint.ts";
import { latestMetadata, restore } from "../../../core/snapshot/restore.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../../../core/snapshot/snapshot.ts";

/** The key of the last checkpoint of an execution, which is stored among its children. No child has this key. */
export const checkpointKey = "";

/** The rows of an execution, all of one version. */
export interface StoredRows {
  readonly workflowId: string;
  readonly version: number;
  readonly status: Status;
  /** JSON; see `headText`. */
  readonly head: string;
  /** JSON of every event after the last checkpoint, oldest first. Earlier events and those after `version` are ignored. */
  readonly events: readonly string[];
  /** JSON of the children by key, in order of creation. */
  readonly children: readonly (readonly [key: string, head: string])[];
}

/**
 * Makes the whole snapshot of the rows of an execution.
 *
 * @param store the name of the store, for the error
 * @throws StepfoldError `STORE_REJECTED` if the rows are damaged
 */
export function restoredSnapshot(store: string, rows: StoredRows): Snapshot {
  const { workflowId, version, status } = rows;
  return unlessDamaged(store, workflowId, () => {
    const checkpoint = checkpointIn(rows);
    const events = eventsAfter(checkpoint?.version ?? -1, rows);
    const { at, ...started } = (checkpoint ? { ...checkpoint, at: checkpoint.createdAt } : events[0]) as StartedEvent;
    const { incarnation, tenant } = started;
    const run = events.findLast((event) => event.type === "continued");
    const restarted = events.findLast((event) => event.type === "restarted");
    const { input } = run ?? started;
    const { definition } = restarted && restarted.version > (run?.version ?? 0) ? restarted : (run ?? started);
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

/** Returns the checkpoint among the rows; null: there is none. */
function checkpointIn({ children }: StoredRows): HistoryCheckpoint | null {
  const text = children.find(([key]) => key === checkpointKey)?.[1];
  if (text === undefined) return null;
  const checkpoint = JSON.parse(text) as HistoryCheckpoint;
  return checkpoint.context ? checkpoint : damaged("the checkpoint has no context");
}

function damaged(reason: string): never {
  throw new TypeError(reason);
}

/** Returns the events after the version `first` up to the version of the head. Each version has exactly one event. */
function eventsAfter(first: number, { version, events: texts }: StoredRows): Event[] {
  const all = texts.map((event) => JSON.parse(event) as Event);
  const isWhole = all.length === version - first && (all.at(-1)?.version ?? version) === version;
  const events = isWhole ? all : all.filter((event) => event.version > first && event.version <= version);
  return events.length === version - first ? events : damaged("events are missing");
}

/** Returns what `read` returns. @throws StepfoldError `STORE_REJECTED` if the rows that it reads are damaged */
export function unlessDamaged<T>(store: string, workflowId: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    // other errors, for example of the database, do not mean that the rows are damaged
    if (!(cause instanceof SyntaxError || cause instanceof TypeError || StepfoldError.is(cause, "SNAPSHOT_INVALID"))) throw cause;
    const reason = `the stored data of execution "${workflowId}" is damaged`;
    throw new StepfoldError("STORE_REJECTED", { store, reason }, { cause });
  }
}
