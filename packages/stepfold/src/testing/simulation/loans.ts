import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "../broken/broken-store.ts";
import type { Ledger } from "./ledger.ts";

/** I16: a process does not change a loaded snapshot. This class keeps the snapshots that were given out, with their text at that time. */
export class Loans {
  readonly #given: { readonly snapshot: Snapshot; readonly text: string }[] = [];

  watched(store: SnapshotStore): SnapshotStore {
    return altered(store, {
      load: async (workflowId) => {
        const snapshot = await store.load(workflowId);
        if (snapshot) this.#given.push({ snapshot, text: JSON.stringify(snapshot) });
        return snapshot;
      },
    });
  }

  check(ledger: Ledger): void {
    for (const { snapshot, text } of this.#given) {
      if (JSON.stringify(snapshot) !== text)
        ledger.violate("I16", `version ${snapshot.version} was changed by who had loaded it`, snapshot.workflowId);
    }
  }
}
