import type { EpochMs } from "../../core/values/json.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { memoryStore } from "../../stores/databases/memory/memory-store.ts";

/** The store of a test that names none. */
export function defaultStore({ now }: { readonly now: () => EpochMs }): SnapshotStore {
  return memoryStore({ now });
}
