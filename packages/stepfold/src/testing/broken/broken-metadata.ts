import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { Json } from "../../core/values/json.ts";
import type { ListQuery } from "../../ports/execution-list.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

const stays = "metadata: what an event has set is in the snapshot, the head and lists, and stays";
const numbers = "range: lists find numbers between bounds, and nothing but numbers";
const texts = "range: lists find texts between bounds by their code units, and nothing but texts";
const finds = "metadata: lists find an execution by what it is now, and no more by what it was";

/** Mistakes with metadata that changes, and with lists that filter metadata by bounds. */
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
    name: "compares numbers as texts",
    caughtBy: numbers,
    breaks: (store) => rangedBy(store, (value, bound) => (isOrdered(value) ? [String(value), String(bound)] : null)),
  },
  {
    name: "compares texts without case",
    caughtBy: texts,
    breaks: (store) =>
      rangedBy(store, (value, bound) => (isOrdered(value) && typeof value === typeof bound ? [lower(value), lower(bound)] : null)),
  },
  {
    name: "compares texts by code points",
    caughtBy: texts,
    breaks: (store) =>
      rangedBy(store, (value, bound) => (isOrdered(value) && typeof value === typeof bound ? [byPoints(value), byPoints(bound)] : null)),
  },
  {
    name: "takes a text for a number",
    caughtBy: numbers,
    breaks: (store) => rangedBy(store, (value, bound) => (isOrdered(value) ? [value, bound] : null)),
  },
  {
    name: "lists whatever lies between bounds",
    caughtBy: numbers,
    breaks: (store) => altered(store, { list: (query = {}) => store.list({ ...query, ...withoutRanges(query) }) }),
  },
  {
    name: "counts whatever lies between bounds",
    caughtBy: "range: it goes together with other filters, and counts count the same",
    breaks: (store) => altered(store, { count: (query = {}, atMost) => store.count!({ ...query, ...withoutRanges(query) }, atMost) }),
  },
  {
    name: "looks between bounds on the first page only",
    caughtBy: "range: pages give each execution once, by the metadata of now",
    breaks: (store) =>
      altered(store, {
        list: (query = {}) => store.list(query.cursor === undefined ? query : { ...query, ...withoutRanges(query) }),
      }),
  },
  {
    name: "takes bounds of any form",
    caughtBy: "range: bounds of another form are refused",
    breaks: (store) =>
      altered(store, {
        list: (query = {}) => store.list(query).catch(() => store.list({ ...query, ...withoutRanges(query) })),
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

type Ordered = number | string;

const isOrdered = (value: unknown): value is Ordered => typeof value === "number" || typeof value === "string";
const lower = (value: Ordered): Ordered => (typeof value === "string" ? value.toLowerCase() : value);
const byPoints = (value: Ordered): Ordered =>
  typeof value === "string" ? Array.from(value, (one) => one.codePointAt(0)!.toString(16).padStart(6, "0")).join("") : value;

const isBetween: Readonly<Record<string, (a: Ordered, b: Ordered) => boolean>> = {
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
};

function withoutRanges({ metadata }: ListQuery): Pick<ListQuery, "metadata"> {
  if (!metadata) return {};
  return { metadata: Object.fromEntries(Object.entries(metadata).filter(([, filter]) => typeof filter !== "object" || filter === null)) };
}

/**
 * Makes a store with its own comparison of bounds.
 *
 * @param compared returns what is compared in place of a value and a bound; null means that the value does not fit
 */
function rangedBy(store: SnapshotStore, compared: (value: Json | undefined, bound: Ordered) => [Ordered, Ordered] | null): SnapshotStore {
  return altered(store, {
    async list(query = {}) {
      const page = await store.list({ ...query, ...withoutRanges(query) });
      const fits = (metadata: Readonly<Record<string, Json>>): boolean =>
        Object.entries(query.metadata ?? {}).every(([key, filter]) => {
          if (typeof filter !== "object" || filter === null) return true;
          return Object.entries(filter).every(([name, bound]) => {
            const pair = compared(metadata[key], bound);
            return pair !== null && isBetween[name]!(...pair);
          });
        });
      return { ...page, items: page.items.filter(({ metadata }) => fits(metadata)) };
    },
  });
}

async function metadataAtStart(store: SnapshotStore, workflowId: string): Promise<Readonly<Record<string, Json>>> {
  const [row] = await store.events(workflowId, -1, 1);
  return (row?.event as StartedEvent | undefined)?.metadata ?? {};
}
