import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { type EpochMs, isJsonObject, type Json } from "../../../core/values/json.ts";
import type { AppendedRow, Commit, ExecutionSummary } from "../../../ports/snapshot-store.ts";

/** When an execution was created and last changed, by the hot store's clock. */
export type Times = Pick<ExecutionSummary, "createdAt" | "updatedAt">;

/** What a copy of a waiting execution still lacks: it is kept in the head until the copy counts. */
export interface Pending {
  /** Without metadata and input, which stay as the first commit wrote them. */
  readonly head: SnapshotHead;
  readonly row: AppendedRow;
  readonly wakeAt: EpochMs | null;
}

/**
 * In the metadata of the cold store it holds the times, because the cold store has its own and a list shows metadata; in
 * the head there it tells a copy from what was always there, and holds what is pending. As the current node it tells, in
 * a list too, a copy that does not count from one that does, and in the hot store what lives in the cold one.
 */
export const key = "~stepfold/tiered";

type Metadata = Readonly<Record<string, Json>>;

/** The head of a copy. */
export function markedHead(head: SnapshotHead, { createdAt, updatedAt }: Times): SnapshotHead {
  const times = { createdAt, updatedAt, version: head.version };
  return withMark({ ...head, metadata: { ...head.metadata, [key]: times } }, true);
}

/** The head of a copy that does not count yet. No living execution has this status but while it retries: they are few. */
export function unfinishedHead(head: SnapshotHead, version: number, pending?: Pending): SnapshotHead {
  return withMark({ ...head, version, status: "error", currentNodeId: key, activePaths: [] }, pending ?? true);
}

/** A commit as an execution that lives in the cold store has it: it would take the mark out of the head. */
export function markedCommit(commit: Commit): Commit {
  return { ...commit, head: withMark(commit.head, true) };
}

function withMark(head: SnapshotHead, mark: true | Pending): SnapshotHead {
  const marked: object = { [key]: mark };
  return { ...head, ...marked };
}

/** True if a move put it there. */
export function isCopy(snapshot: Snapshot): boolean {
  return Object.hasOwn(snapshot, key);
}

/** True for a copy that does not count. */
export function isUnfinished({ currentNodeId }: Pick<Snapshot, "currentNodeId">): boolean {
  return currentNodeId === key;
}

/** What a copy lacks; null if that is more than its end. */
export function pendingOf(copy: Snapshot): Pending | null {
  const { [key]: mark } = copy as Snapshot & { readonly [key]?: true | Pending };
  return typeof mark === "object" && mark !== null ? mark : null;
}

/** The snapshot of a copy, as its original was. */
export function unmarked(snapshot: Snapshot): Snapshot {
  const { [key]: _, ...original } = snapshot as Snapshot & { readonly [key]?: true };
  return { ...original, metadata: withoutTimes(snapshot).metadata };
}

/** What a list shows of a copy, with the times of its original. What changed in the cold store did so at its time. */
export function withoutTimes<T extends { readonly metadata: Metadata; readonly version: number }>(stored: T): T & Partial<Times> {
  const { [key]: times, ...metadata } = stored.metadata;
  if (!isJsonObject(times) || typeof times.createdAt !== "number") return stored;
  const hasChanged = stored.version > Number(times.version);
  return { ...stored, createdAt: times.createdAt, ...(!hasChanged && { updatedAt: times.updatedAt }), metadata } as T & Partial<Times>;
}
