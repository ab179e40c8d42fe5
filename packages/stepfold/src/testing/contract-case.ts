import type { SnapshotStore } from "../ports/snapshot-store.ts";

/** What a contract case works with: a new, empty store for every case. */
export interface StoreBench {
  readonly store: SnapshotStore;
  /**
   * The retention of deleted ids that the store was opened with, in
   * milliseconds. It must outlast a few calls, and cases wait for its end.
   */
  readonly retentionMs: number;
  /** Opens another handle on the same data; for a store in memory, the same store. */
  open(): Promise<SnapshotStore>;
  /** Moves the store's clock forward. With a real clock it waits. */
  advance(durationMs: number): Promise<void>;
  /** Damages the stored head of an execution, as a manual edit in the database might. */
  damage?(workflowId: string): Promise<void>;
  /** Cuts the connections of `store` to its database, also those in use. The store can open new ones. */
  cut?(): Promise<void>;
}

/** What a case needs besides a store and a clock. */
export type Need =
  | "durable"
  | "multiProcess"
  | "maxValueBytes"
  | "permits"
  | "taskQueues"
  | "lists"
  | "definitions"
  | "keys"
  | "damage"
  | "cut";

/** One promise that a store makes. It is plain data: any test runner, or none, can run it. */
export interface ContractCase {
  readonly name: string;
  /**
   * The case is only for stores with this feature, or for benches that can
   * do this. Report it for others as not claimed, never as passed.
   */
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
