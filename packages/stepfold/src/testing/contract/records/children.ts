import type { CompletedEvent, Event } from "../../../core/snapshot/event.ts";
import type { ChildHead, Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { Json } from "../../../core/values/json.ts";
import type { ChangedChild, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { equal, present } from "../../expectations.ts";

/** A child as a commit puts it. */
export function put(key: string, more: Partial<ChildHead> = {}): ChangedChild {
  const path = { id: "0", nodeId: "inner", status: "ready", turn: 1, visit: 1, attempts: 0, since: 0, stepPath: [] } as const;
  return { key, head: { workflow: "item", status: "active", currentNodeId: "inner", activePaths: [path], version: 0, ...more } };
}

/** A child that has ended: only its output is kept. */
export function putEnded(key: string, output: Json, more: Partial<ChildHead> = {}): ChangedChild {
  return put(key, { status: "completed", currentNodeId: null, activePaths: [], output, ...more });
}

/** A child that a commit deletes. */
export function gone(key: string): ChangedChild {
  return { key, head: null };
}

/** A step that was completed in a child. */
export function stepIn(scope: string, output: Json, nodeId = "inner"): (version: number) => Event {
  const step = { type: "completed", pathId: "0", turn: 1, nodeId, attempt: 1, startedAt: 4 } as const;
  return (version) => ({ ...step, version, at: 5, scope, output });
}

/** A step that sets variables to these values. */
export function setting(step: (version: number) => Event, variables: Readonly<Record<string, Json>>): (version: number) => Event {
  return (version) => ({ ...(step(version) as CompletedEvent), variables });
}

/** Children as they are loaded, in their order. */
export async function childrenOf(store: SnapshotStore, workflowId = "a"): Promise<NonNullable<Snapshot["childStates"]>> {
  return present(await store.load(workflowId), "snapshot").childStates ?? {};
}

/** Fails unless the children that are loaded have these keys, in this order. */
export async function expectKeys(store: SnapshotStore, keys: readonly string[], workflowId = "a"): Promise<void> {
  equal(Object.keys(await childrenOf(store, workflowId)), keys, "keys of children");
}
