import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** A plausible mistake in a store, which the contract must find. */
export interface BrokenStore {
  readonly name: string;
  /** Name of a contract case that fails on it. */
  readonly caughtBy: string;
  /** Wraps a correct store into one with the mistake. */
  breaks(store: SnapshotStore): SnapshotStore;
}

/** Returns the store with some of its members replaced. */
export function altered(store: SnapshotStore, changes: Partial<SnapshotStore>): SnapshotStore {
  return new Proxy(store, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return changes[key as keyof SnapshotStore];
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
