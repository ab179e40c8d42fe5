import { latestMetadata } from "../../../core/snapshot/restore.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { type EpochMs, isJsonObject, type Json } from "../../../core/values/json.ts";
import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import type { AppendedRow, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";

/** When an execution was created and last changed, by the hot store's clock. */
export type Times = Pick<ExecutionSummary, "createdAt" | "updatedAt">;

/** The last event and the head of a waiting execution. A partial copy keeps them in its mark until the copy is completed. */
export interface LastCommit {
  /** The head without metadata and input, which the first commit of the copy has written. */
  readonly head: SnapshotHead;
  readonly row: AppendedRow;
  readonly wakeAt: EpochMs | null;
}

/**
 * The mark of a tiered store. It is used in four places:
 *
 * - As a member of the metadata of a copy it holds the times of the original, because the cold store has times of its own.
 * - As a member of the head of a copy it says that a move has made the copy. In a partial copy it may hold the last commit.
 * - As the current node of a copy it says that the copy is partial: the execution does not live in the cold store.
 * - As the current node in the hot store it says that the execution is a redirect: it lives in the cold store.
 */
export const tieredMark = "~stepfold/tiered";

type Metadata = Readonly<Record<string, Json>>;
type MarkedSnapshot = Snapshot & { readonly [tieredMark]?: true | LastCommit };

/** Makes the head of a copy. */
export function copyHead(head: SnapshotHead, { createdAt, updatedAt }: Times): SnapshotHead {
  const times = { createdAt, updatedAt, version: head.version };
  return withMark({ ...head, metadata: { ...head.metadata, [tieredMark]: times } }, true);
}

/** Makes the head of a partial copy. Its status is `error`, which few executions have, so that a list finds partial copies quickly. */
export function partialHead(head: SnapshotHead, version: number, lastCommit?: LastCommit): SnapshotHead {
  return withMark({ ...head, version, status: "error", currentNodeId: tieredMark, activePaths: [] }, lastCommit ?? true);
}

/** Commits to an execution in the cold store. It adds the marks to head and metadata, because a commit replaces both. */
export async function commitToCold(cold: SnapshotStore, commit: Commit): Promise<void> {
  const set = latestMetadata(commit.events) ?? (commit.waits && commit.head.metadata);
  const times = set && (await cold.loadHead(commit.workflowId))?.metadata[tieredMark];
  const metadata = times === undefined ? set : { ...set, [tieredMark]: times };
  return cold.commit({ ...commit, head: withMark({ ...commit.head, ...(metadata && { metadata }) }, true) });
}

function withMark(head: SnapshotHead, mark: true | LastCommit): SnapshotHead {
  const marked: object = { [tieredMark]: mark };
  return { ...head, ...marked };
}

/** Returns true if a snapshot of the cold store is a copy that a move has made. */
export function isCopy(snapshot: Snapshot): boolean {
  return Object.hasOwn(snapshot, tieredMark);
}

/** Returns true if a copy is partial. */
export function isPartial({ currentNodeId }: Pick<Snapshot, "currentNodeId">): boolean {
  return currentNodeId === tieredMark;
}

/** Reads the last commit that a partial copy still needs; null if the copy needs more than that. */
export function lastCommitOf(copy: Snapshot): LastCommit | null {
  const { [tieredMark]: mark } = copy as MarkedSnapshot;
  return typeof mark === "object" && mark !== null ? mark : null;
}

/** Removes the marks from the snapshot of a copy, which gives the snapshot of the original. */
export function withoutMarks(snapshot: Snapshot): Snapshot {
  const { [tieredMark]: _, ...original } = snapshot as MarkedSnapshot;
  return { ...original, metadata: withOriginalTimes(snapshot).metadata };
}

/** Replaces the times of a copy by those of its original. If it was changed in the cold store, that store's time of the change stays. */
export function withOriginalTimes<T extends { readonly metadata: Metadata; readonly version: number }>(stored: T): T & Partial<Times> {
  const { [tieredMark]: times, ...metadata } = stored.metadata;
  if (!isJsonObject(times) || typeof times.createdAt !== "number") return stored;
  const hasChanged = stored.version > Number(times.version);
  return { ...stored, createdAt: times.createdAt, ...(!hasChanged && { updatedAt: times.updatedAt }), metadata } as T & Partial<Times>;
}
