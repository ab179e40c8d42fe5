import type { SnapshotStore } from "../ports/snapshot-store.ts";

/** What a contract case works with: a new, empty store for every case. */
export interface StoreBench {
  readonly store: SnapshotStore;
  /** The retention of deleted ids that the store was opened with, in milliseconds. Long enough for a few calls, short enough to wait for. */
  readonly retentionMs: number;
  /** Another handle on the same data; for a store that lives in memory, the same store. */
  open(): Promise<SnapshotStore>;
  /** Moves the store's clock. With a real clock: waits. */
  advance(durationMs: number): Promise<void>;
  /** Damages the stored head of an execution, as an edit in the database might. */
  damage?(workflowId: string): Promise<void>;
  /** Cuts the connections that `store` has to its database, whatever is under way on them. New ones can be made. */
  cut?(): Promise<void>;
}

/** What a case asks for beyond a store and a clock. */
export type Need = "durable" | "multiProcess" | "maxValueBytes" | "permits" | "lists" | "definitions" | "damage" | "cut";

/** One promise a store makes. Plain data: any test runner, or none, can run it. */
export interface ContractCase {
  readonly name: string;
  /** Only for stores with this feature, or benches that can do this. For others report it as not claimed, never as passed. */
  readonly needs?: Need;
  /** Rejects if the promise is broken: with a ContractViolation, or with what the store threw. */
  run(bench: StoreBench): Promise<void>;
}

/** True if a store, or its bench, has what a case needs. */
export function isClaimed({ needs }: ContractCase, bench: StoreBench): boolean {
  if (needs === undefined) return true;
  if (needs === "damage" || needs === "cut") return bench[needs] !== undefined;
  return Boolean(bench.store.features[needs]);
}
