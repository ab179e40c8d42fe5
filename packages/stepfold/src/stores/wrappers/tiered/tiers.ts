import type { SnapshotStore } from "../../../ports/snapshot-store.ts";

/** The two stores of a tiered store. An execution begins in the hot store, and lives in exactly one of them at any time. */
export interface Tiers {
  readonly hot: SnapshotStore;
  readonly cold: SnapshotStore;
}
