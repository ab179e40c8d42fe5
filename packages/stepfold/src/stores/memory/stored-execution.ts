import type { Event, StartedEvent } from "../../core/snapshot/event.ts";
import { restore } from "../../core/snapshot/restore.ts";
import type { ChildHead, Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";

/** An execution as it lies in memory. Values are kept as text: nothing can be aliased, and what is loaded went through JSON. */
export interface Stored {
  readonly seq: number;
  readonly id: string;
  readonly incarnation: string;
  readonly createdAt: EpochMs;
  readonly definitionId: string;
  /** JSON of what a list shows of the start. */
  readonly start: string;
  /** Index = version. */
  readonly events: { readonly commitId: string; readonly event: string }[];
  /** Heads of children, by key, in order of creation. */
  readonly children: Map<string, string>;
  /** See `headText`. */
  head: string;
  version: number;
  status: Status;
  updatedAt: EpochMs;
  wakeAt: EpochMs | null;
  /** When somebody may claim it: the end of the lease while it is held, else `wakeAt`. */
  dueAt: EpochMs | null;
  /** Null when nobody holds it. */
  owner: string | null;
  fence: number;
}

/** The head without what the first event fixed: a step writes only what it changes, however large input and metadata are. */
export function headText(head: SnapshotHead): string {
  return JSON.stringify({ ...head, definition: undefined, metadata: undefined, input: undefined });
}

/** The whole snapshot, made anew. */
export function snapshotOf(stored: Stored): Snapshot {
  const events = stored.events.map(({ event }) => JSON.parse(event) as Event);
  const head = JSON.parse(stored.head) as SnapshotHead;
  const { definition, incarnation, metadata, input } = events[0] as StartedEvent;
  const whole = { ...head, definition, incarnation, metadata, ...(input === undefined ? undefined : { input }) } as SnapshotHead;
  const children = [...stored.children].map(([key, text]) => [key, JSON.parse(text) as ChildHead] as const);
  return restore({ head: whole, children, events });
}
