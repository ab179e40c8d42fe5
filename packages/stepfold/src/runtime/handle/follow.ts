import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { successorOf } from "../context/successor.ts";
import type { WaitOptions } from "./end-of-wait.ts";

/** How the end of an execution is waited for. */
export interface ResultOptions extends WaitOptions {
  /** Whether an execution that was restarted is waited for instead of one that has failed or was cancelled. Default true. */
  readonly follow?: boolean | undefined;
}

/** What `wait` gives for an execution, or for the last one that it was restarted as. */
export async function following(
  store: SnapshotStore,
  workflowId: string,
  { follow = true }: ResultOptions,
  wait: (workflowId: string) => Promise<Snapshot>,
): Promise<Snapshot> {
  for (let id = workflowId; ; ) {
    const snapshot = await wait(id);
    const next = follow ? await successorOf(store, snapshot) : null;
    if (!next) return snapshot;
    id = next.workflowId;
  }
}
