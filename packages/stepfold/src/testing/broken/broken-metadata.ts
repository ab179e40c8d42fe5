import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { Json } from "../../core/values/json.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

const stays = "metadata: what an event has set is in the snapshot, the head and lists, and stays";
const finds = "metadata: lists find an execution by what it is now, and no more by what it was";

/** Mistakes with metadata that changes. */
export const brokenMetadata: readonly BrokenStore[] = [
  {
    name: "loads the metadata of the start",
    caughtBy: stays,
    breaks: (store) =>
      altered(store, {
        async load(id) {
          const snapshot = await store.load(id);
          return snapshot && { ...snapshot, metadata: await metadataAtStart(store, id) };
        },
      }),
  },
  {
    name: "lists the metadata of the start",
    caughtBy: stays,
    breaks: (store) =>
      altered(store, {
        async list(query) {
          const page = await store.list(query);
          const items = page.items.map(async (item) => ({ ...item, metadata: await metadataAtStart(store, item.workflowId) }));
          return { ...page, items: await Promise.all(items) };
        },
      }),
  },
  {
    name: "finds executions by the metadata of the start",
    caughtBy: finds,
    breaks: (store) =>
      altered(store, {
        async list({ metadata = {}, ...query } = {}) {
          const page = await store.list(query);
          const fits = async (id: string): Promise<boolean> => {
            const own = await metadataAtStart(store, id);
            return Object.entries(metadata).every(([key, value]) => own[key] === value);
          };
          const wanted = await Promise.all(page.items.map(({ workflowId }) => fits(workflowId)));
          return { ...page, items: page.items.filter((_, index) => wanted[index]) };
        },
      }),
  },
  {
    name: "takes no metadata from a holder",
    caughtBy: "metadata: a change comes with a step of the holder, with none at all, and with an end",
    breaks: (store) =>
      altered(store, {
        commit: (commit) =>
          store.commit(
            commit.fence === undefined
              ? commit
              : { ...commit, events: commit.events.map((event) => ({ ...event, type: "parked" }) as never) },
          ),
      }),
  },
  {
    name: "forgets the tenant when metadata changes",
    caughtBy: "metadata: a change keeps the tenant, and moves nothing that is due",
    breaks: (store) =>
      altered(store, {
        commit: ({ head: { tenant: _, ...head }, ...commit }) => store.commit({ ...commit, head }),
      }),
  },
];

async function metadataAtStart(store: SnapshotStore, workflowId: string): Promise<Readonly<Record<string, Json>>> {
  const [row] = await store.events(workflowId, -1, 1);
  return (row?.event as StartedEvent | undefined)?.metadata ?? {};
}
