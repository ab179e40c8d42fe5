import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "../broken/broken-store.ts";
import type { Ledger } from "./ledger.ts";

/** I16: a process works on a copy. Keeps the snapshots that were handed out, and their text at that time. */
export class Loans {
  readonly #given: { readonly snapshot: Snapshot; readonly text: string }[] = [];

  watched(store: SnapshotStore): SnapshotStore {
    return altered(store, {
      claim: async (options) => {
        const claimed = await store.claim(options);
        for (const { snapshot } of claimed) this.#given.push({ snapshot, text: JSON.stringify(snapshot) });
        return claimed;
      },
    });
  }

  check(ledger: Ledger): void {
    for (const { snapshot, text } of this.#given) {
      if (JSON.stringify(snapshot) !== text)
        ledger.violate("I16", `version ${snapshot.version} was changed by who had claimed it`, snapshot.workflowId);
    }
  }
}
