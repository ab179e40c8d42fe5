import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { successorOf } from "../context/successor.ts";
import type { WaitOptions } from "./end-of-wait.ts";

/** How the end of an execution is waited for. */
export interface ResultOptions extends WaitOptions {
  /** Whether to wait for the successor of an execution that was restarted or goes on as a new one. Default true. */
  readonly follow?: boolean | undefined;
}

/** Returns what `wait` gives for an execution, or for its last successor. */
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
