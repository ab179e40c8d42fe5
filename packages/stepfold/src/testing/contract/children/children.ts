import type { CompletedEvent, Event } from "../../../core/snapshot/event.ts";
import type { ChildHead, Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { Json } from "../../../core/values/json.ts";
import type { ChangedChild, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { equal, present } from "../../expectations.ts";

/** Makes the change of a commit that writes an active child. */
export function put(key: string, more: Partial<ChildHead> = {}): ChangedChild {
  const path = { id: "0", nodeId: "inner", status: "ready", turn: 1, visit: 1, attempts: 0, since: 0, stepPath: [] } as const;
  return { key, head: { workflow: "item", status: "active", currentNodeId: "inner", activePaths: [path], version: 0, ...more } };
}

/** Makes the change of a commit that writes an ended child, which keeps only its output. */
export function putEnded(key: string, output: Json, more: Partial<ChildHead> = {}): ChangedChild {
  return put(key, { status: "completed", currentNodeId: null, activePaths: [], output, ...more });
}

/** Makes the change of a commit that deletes a child. */
export function gone(key: string): ChangedChild {
  return { key, head: null };
}

/** Makes the event of a step that was completed in a child. */
export function stepIn(scope: string, output: Json, nodeId = "inner"): (version: number) => Event {
  const step = { type: "completed", pathId: "0", turn: 1, nodeId, attempt: 1, startedAt: 4 } as const;
  return (version) => ({ ...step, version, at: 5, scope, output });
}

/** Makes the event of a step that sets variables to these values. */
export function setting(step: (version: number) => Event, variables: Readonly<Record<string, Json>>): (version: number) => Event {
  return (version) => ({ ...(step(version) as CompletedEvent), variables });
}

/** Returns the loaded children in their order. */
export async function childrenOf(store: SnapshotStore, workflowId = "a"): Promise<NonNullable<Snapshot["childStates"]>> {
  return present(await store.load(workflowId), "snapshot").childStates ?? {};
}

/** Fails unless the loaded children have these keys in this order. */
export async function expectKeys(store: SnapshotStore, keys: readonly string[], workflowId = "a"): Promise<void> {
  equal(Object.keys(await childrenOf(store, workflowId)), keys, "keys of children");
}
