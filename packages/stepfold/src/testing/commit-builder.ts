import type { Event, StartedEvent } from "../core/snapshot/event.ts";
import type { HistoryCheckpoint } from "../core/snapshot/history-checkpoint.ts";
import { restore } from "../core/snapshot/restore.ts";
import { type ChildHead, isTerminal, type Snapshot, type SnapshotHead, type Status } from "../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import type { ChangedChild, Commit } from "../ports/snapshot-store.ts";

/** The parts of a first commit that differ from the defaults. */
export interface FirstCommitOptions {
  readonly definitionId?: string;
  readonly input?: Json;
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly tenant?: string;
  readonly status?: Status;
  /** When the execution is due. Default: at once while active, never with another status. */
  readonly wakeAt?: EpochMs | null;
  readonly incarnation?: string;
  readonly commitId?: string;
  readonly children?: readonly ChangedChild[];
  readonly waits?: Commit["waits"];
  /** More fields of the head. */
  readonly head?: Partial<SnapshotHead>;
}

/** The parts of a later commit that differ from the defaults. */
export interface StepOptions {
  readonly nodeId?: string;
  readonly output?: Json;
  /** Puts several events into one commit, one for each output. `output` is not used then. */
  readonly outputs?: readonly Json[];
  /** Makes the event from its version. Default: the event of a completed step. */
  readonly event?: (version: number) => Event;
  readonly status?: Status;
  /** When the execution is due after this commit. Default: at once while active, never with another status. */
  readonly wakeAt?: EpochMs | null;
  readonly fence?: number;
  readonly release?: boolean;
  readonly commitId?: string;
  readonly children?: readonly ChangedChild[];
  readonly waits?: Commit["waits"];
  readonly checkpoint?: HistoryCheckpoint;
  /** More fields of the head. */
  readonly head?: Partial<SnapshotHead>;
}

let made = 0;
const unique = (what: string): string => `${what}-${++made}`;

/** Makes the commit that creates an execution, as an engine would make it. */
export function startCommit(workflowId: string, options: FirstCommitOptions = {}): Commit {
  const { definitionId = "contract", input, metadata = {}, tenant, status = "active", incarnation = unique("incarnation") } = options;
  const definition = { id: definitionId, hash: `hash-of-${definitionId}` };
  const given = { ...(tenant !== undefined && { tenant }), ...(input !== undefined && { input }) };
  const event: StartedEvent = {
    type: "started",
    version: 0,
    at: 1,
    workflowId,
    definition,
    incarnation,
    nodeId: "step",
    metadata,
    ...given,
  };
  const head: SnapshotHead = {
    schema: 1,
    workflowId,
    definition,
    ...statusFields(status, 0),
    version: 0,
    metadata,
    ...given,
    steps: 0,
    sizeBytes: 2,
    createdAt: 1,
    incarnation,
    ...options.head,
  };
  return {
    workflowId,
    incarnation,
    expectedVersion: -1,
    commitId: options.commitId ?? unique("commit"),
    head,
    events: [event],
    ...(options.children && { children: options.children }),
    ...(options.waits && { waits: options.waits }),
    wakeAt: options.wakeAt === undefined ? wakeFor(status) : options.wakeAt,
  };
}

/** Makes the commit that follows another commit or a loaded snapshot. */
export function stepCommit(from: Commit | Snapshot, options: StepOptions = {}): Commit {
  const before = firstHead(from);
  const { nodeId = "step", output = null, outputs = [output], status = "active", fence, release } = options;
  const events = outputs.map((each, index): Event => {
    const version = before.version + 1 + index;
    return (
      options.event?.(version) ?? {
        ...{ type: "completed", version, at: 1000 + version, pathId: "0", turn: version, nodeId, attempt: 1, startedAt: 1000 },
        output: each,
      }
    );
  });
  const version = before.version + events.length;
  const head: SnapshotHead = { ...before, ...statusFields(status, version), version, steps: version, ...options.head };
  return {
    workflowId: before.workflowId,
    incarnation: before.incarnation ?? "",
    expectedVersion: before.version,
    ...(fence === undefined ? undefined : { fence }),
    commitId: options.commitId ?? unique("commit"),
    head,
    events,
    ...(options.children && { children: options.children }),
    ...(options.waits && { waits: options.waits }),
    ...(options.checkpoint && { checkpoint: options.checkpoint }),
    wakeAt: options.wakeAt === undefined ? wakeFor(status) : options.wakeAt,
    ...(release === undefined ? undefined : { release }),
  };
}

/** Returns the snapshot that results from these commits in this order. */
export function snapshotAfter(...commits: readonly Commit[]): Snapshot {
  const heads = new Map<string, ChildHead>();
  for (const { key, head } of commits.flatMap(({ children = [] }) => children)) {
    if (head) heads.set(key, head);
    else heads.delete(key);
  }
  const last = commits.findLastIndex((commit) => commit.checkpoint);
  const events = commits.slice(last + 1).flatMap((commit) => commit.events);
  return restore({ head: commits.at(-1)!.head, children: heads, events, checkpoint: commits[last]?.checkpoint ?? null });
}

function firstHead(from: Commit | Snapshot): SnapshotHead {
  if ("head" in from) return from.head;
  const { context: _, variables, childStates, mapItems, compensations, ...head } = from;
  return head;
}

function statusFields(status: Status, version: number): Pick<SnapshotHead, "status" | "currentNodeId" | "activePaths"> {
  if (isTerminal(status)) return { status, currentNodeId: null, activePaths: [] };
  const path = { id: "0", nodeId: "step", turn: version, visit: 0, attempts: 0, since: version, stepPath: ["step"] };
  const doing = status === "error" ? "retrying" : status === "paused" ? "suspended" : "ready";
  return { status, currentNodeId: "step", activePaths: [{ ...path, status: doing }] };
}

/** 0 means due at once, null never. */
const wakeFor = (status: Status): EpochMs | null => (status === "active" ? 0 : null);
