import type { SnapshotStore, StoreFeatures } from "../ports/snapshot-store.ts";

/** What a contract case works with: a new, empty store for every case. */
export interface StoreBench {
  readonly store: SnapshotStore;
  /** The retention of deleted ids that the store was opened with, in milliseconds. Long enough for a few calls, short enough to wait for. */
  readonly retentionMs: number;
  /** Another handle on the same data; for a store that lives in memory, the same store. */
  open(): Promise<SnapshotStore>;
  /** Moves the store's clock. With a real clock: waits. */
  advance(durationMs: number): Promise<void>;
}

/** One promise a store makes. Plain data: any test runner, or none, can run it. */
export interface ContractCase {
  readonly name: string;
  /** Only for stores with this feature. For others report it as not claimed, never as passed. */
  readonly needs?: "durable" | "multiProcess";
  /** Rejects if the promise is broken: with a ContractViolation, or with what the store threw. */
  run(bench: StoreBench): Promise<void>;
}

/** True if a store claims what a case needs. */
export function isClaimed({ needs }: ContractCase, features: StoreFeatures): boolean {
  return needs === undefined || features[needs];
}
