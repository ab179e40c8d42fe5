import type { Event, StartedEvent } from "../../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../../src/core/values/json.ts";
import type { BlobStore } from "../../../src/ports/blob-store.ts";
import type { ChangedChild, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";

/** Wraps a store and records the name and the arguments of every call. */
export function recorded(inner: SnapshotStore): { readonly store: SnapshotStore; readonly told: string[] } {
  const told: string[] = [];
  const store = new Proxy(inner, {
    get(target, name: keyof SnapshotStore) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        told.push(`${name} ${JSON.stringify(given)}`);
        return (member as (...given: unknown[]) => unknown)(...given);
      };
    },
  });
  return { store, told };
}

/** Blobs in memory. */
export function memoryBlobs(now: () => number = Date.now): BlobStore & { readonly held: Map<string, Uint8Array>; readonly puts: string[] } {
  const held = new Map<string, Uint8Array>();
  const puts: string[] = [];
  return {
    held,
    puts,
    name: "memory",
    async put(key, bytes) {
      puts.push(key);
      held.set(key, bytes);
    },
    get: async (key) => held.get(key) ?? null,
    async deleteFolder(folder) {
      for (const key of held.keys()) if (key.startsWith(`${folder}/`)) held.delete(key);
    },
    async *list() {
      for (const key of held.keys()) yield { key, writtenAt: now() };
    },
  };
}

/** The commit that leads from one snapshot to a later one. */
export function commitBetween(before: Snapshot | null, after: Snapshot, history: readonly Event[], workflowId: string): Commit {
  const { context: _, variables: _____, childStates = {}, mapItems: __, compensations: ___, ...head } = after;
  const expectedVersion = before?.version ?? -1;
  const changed: ChangedChild[] = Object.entries(childStates).map(([key, { context: ____, variables: ______, ...child }]) => ({
    key,
    head: child,
  }));
  const gone = Object.keys(before?.childStates ?? {}).filter((key) => !Object.hasOwn(childStates, key));
  const incarnation = `incarnation of ${workflowId}`;
  const events = history.slice(expectedVersion + 1).map((event) => {
    return event.type === "started" ? ({ ...event, workflowId, incarnation } satisfies StartedEvent) : event;
  });
  return {
    workflowId,
    incarnation,
    expectedVersion,
    commitId: `${workflowId} ${after.version}`,
    head: { ...head, workflowId, incarnation },
    events,
    children: [...gone.map((key) => ({ key, head: null })), ...changed],
    wakeAt: 0,
  };
}

/** Values that look like values that a wrapping store has written. */
export const lookalikes: readonly Json[] = ["encrypted", "compressed", "blob"].flatMap((name): Json[] => {
  const mark = `~stepfold/${name}`;
  return [
    mark,
    `${mark}:`,
    `${mark}:{"${mark}":1,"json":"1"}`,
    { [mark]: 1 },
    { [mark]: 1, json: "1" },
    { [mark]: 2, data: "x", key: "k" },
    { [mark]: { form: 1, data: "x" } },
    [{ deep: { [mark]: 1, json: "[" } }],
    { message: `${mark}:{"${mark}":1,"json":"1"}`, error: `${mark}:x` },
  ];
});
