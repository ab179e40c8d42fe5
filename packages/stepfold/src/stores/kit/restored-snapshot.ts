import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event, StartedEvent } from "../../core/snapshot/event.ts";
import { restore } from "../../core/snapshot/restore.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";

/** An execution as its rows hold it, all of one version. */
export interface StoredRows {
  readonly workflowId: string;
  readonly version: number;
  readonly status: Status;
  /** JSON; see `headText`. */
  readonly head: string;
  /** JSON of every event, oldest first. Those after `version` do not count. */
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
export function restoredSnapshot(
  store: string,
  { workflowId, version, status, head: text, events: texts, children }: StoredRows,
): Snapshot {
  return unlessDamaged(store, workflowId, () => {
    const all = texts.map((event) => JSON.parse(event) as Event);
    const events = all.at(-1)!.version > version ? all.filter((event) => event.version <= version) : all;
    // each version is one event
    if (events.length !== version + 1) throw new TypeError("events are missing");
    const { definition, incarnation, metadata, tenant, input, at: createdAt } = events[0] as StartedEvent;
    const fixed = { workflowId, definition, incarnation, metadata, ...(tenant !== undefined && { tenant }), createdAt, version, status };
    const head = JSON.parse(text) as SnapshotHead;
    const whole = (input === undefined ? { ...head, ...fixed } : { ...head, ...fixed, input }) as SnapshotHead;
    return restore({
      head: whole,
      children: children.map(([key, child]) => [key, JSON.parse(child) as ChildHead] as const),
      events,
    });
  });
}

/** What `read` makes of rows. @throws StepfoldError `STORE_REJECTED` if they are damaged */
export function unlessDamaged<T>(store: string, workflowId: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    // an error of the database is no matter of these rows
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause;
    const reason = `what is stored of execution "${workflowId}" is damaged`;
    throw new StepfoldError("STORE_REJECTED", { store, reason }, { cause });
  }
}
