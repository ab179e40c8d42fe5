import type { Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import type { ExecutionSummary } from "../../ports/snapshot-store.ts";

/** When an execution was created and last changed, by the hot store's clock. */
export type Times = Pick<ExecutionSummary, "createdAt" | "updatedAt">;

/**
 * Only in the cold store. In the metadata it holds the times, because the cold store has its own and a list shows
 * metadata; in the head it tells a copy from what was always there.
 */
const key = "~stepfold/tiered";

type Metadata = Readonly<Record<string, Json>>;

/** The head of a copy. */
export function markedHead(head: SnapshotHead, { createdAt, updatedAt }: Times): SnapshotHead {
  const marked: object = { [key]: true };
  return { ...head, ...marked, metadata: { ...head.metadata, [key]: { createdAt, updatedAt } } };
}

/** True if a move put it there. */
export function isCopy(snapshot: Snapshot): boolean {
  return Object.hasOwn(snapshot, key);
}

/** The snapshot of a copy, as its original was. */
export function unmarked(snapshot: Snapshot): Snapshot {
  const { [key]: _, ...original } = snapshot as Snapshot & { readonly [key]?: true };
  return { ...original, metadata: withoutTimes(snapshot).metadata };
}

/** What a list shows of a copy, with the times of its original. */
export function withoutTimes<T extends { readonly metadata: Metadata }>(stored: T): T & Partial<Times> {
  const { [key]: times, ...metadata } = stored.metadata;
  if (!isJsonObject(times) || typeof times.createdAt !== "number") return stored;
  return { ...stored, createdAt: times.createdAt, updatedAt: times.updatedAt, metadata } as T & Partial<Times>;
}
