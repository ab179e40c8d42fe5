import type { SnapshotStore } from "../../../ports/snapshot-store.ts";

/** The two stores of a tiered store. An execution begins in the hot one, and lives in one of them at a time. */
export interface Tiers {
  readonly hot: SnapshotStore;
  readonly cold: SnapshotStore;
}
