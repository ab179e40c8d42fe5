import type { Permit, Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { restoredSnapshot } from "../kit/restored-snapshot.ts";

/** An execution as it lies in memory. Values are kept as text: nothing can be aliased, and what is loaded went through JSON. */
export interface Stored {
  readonly seq: number;
  readonly id: string;
  readonly incarnation: string;
  readonly createdAt: EpochMs;
  readonly definitionId: string;
  /** JSON; fixed at the start, as metadata. */
  readonly definition: string;
  readonly metadata: string;
  readonly permit: Permit | null;
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
  /** When somebody may claim it: the end of the lease while it is held, else when it wakes; see `dueAtOf`. */
  dueAt: EpochMs | null;
  /** Null when nobody holds it. */
  owner: string | null;
  fence: number;
  /** Claims in a row that ran out, without a commit of their holder. */
  crashes: number;
}

/** The whole snapshot, made anew. */
export function snapshotOf({ id: workflowId, version, status, head, events, children }: Stored): Snapshot {
  return restoredSnapshot("memory", {
    workflowId,
    version,
    status,
    head,
    events: events.map(({ event }) => event),
    children: [...children],
  });
}
