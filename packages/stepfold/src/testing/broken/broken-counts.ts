import { durationClassOf } from "../../ports/execution-counts.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

/** Mistakes in orders, prefixes and counts of lists, in summaries, in the series of ended executions, and in the list of workers. */
export const brokenCounts: readonly BrokenStore[] = [
  {
    name: "shows workers that have died",
    caughtBy: "workers: one is gone when it says so, and when its sign of life has run out",
    breaks: (store) => altered(store, { beat: (beat) => store.beat!({ ...beat, aliveMs: beat.aliveMs && 60_000 }) }),
  },
  {
    name: "shows workers that have ended",
    caughtBy: "workers: one is gone when it says so, and when its sign of life has run out",
    breaks: (store) => altered(store, { beat: (beat) => store.beat!({ ...beat, aliveMs: beat.aliveMs || 60_000 }) }),
  },
  {
    name: "keeps what a worker has told first",
    caughtBy: "workers: those that have told that they are there, by their names, each as it has told last",
    breaks: (store) =>
      altered(store, {
        async beat(beat) {
          if (!(await store.workers!()).some(({ owner }) => owner === beat.owner)) await store.beat!(beat);
        },
      }),
  },
  {
    name: "knows the last of those workers only that tell at once",
    caughtBy: "workers: many that tell at once are all there",
    breaks(store) {
      const told: string[] = [];
      return altered(store, {
        beat(beat) {
          told.push(beat.owner);
          return store.beat!(beat);
        },
        workers: async () => (await store.workers!()).filter(({ owner }) => owner === told.at(-1)),
      });
    },
  },
  {
    name: "lists the newest first, whatever is asked for",
    caughtBy: "list: oldest first is the same list from its other end",
    breaks: (store) => altered(store, { list: ({ order: _, ...query } = {}) => store.list(query) }),
  },
  {
    name: "turns each page round, and not the list",
    caughtBy: "list: oldest first is the same list from its other end",
    breaks: (store) =>
      altered(store, {
        async list({ order, ...query } = {}) {
          const page = await store.list(query);
          return order === "oldest" ? { ...page, items: page.items.toReversed() } : page;
        },
      }),
  },
  {
    name: "takes the beginning of an id for a pattern",
    caughtBy: "list: ids that begin so are told apart by every character",
    breaks: (store) =>
      altered(store, {
        async list({ idPrefix, ...query } = {}) {
          if (idPrefix === undefined || !/[%_]/.test(idPrefix)) return store.list(idPrefix === undefined ? query : { ...query, idPrefix });
          const pattern = new RegExp(`^${idPrefix.replaceAll("%", ".*").replaceAll("_", ".")}`);
          const page = await store.list({ ...query, limit: 1000 });
          return { ...page, items: page.items.filter(({ workflowId }) => pattern.test(workflowId)) };
        },
      }),
  },
  {
    name: "counts whatever its metadata",
    caughtBy: "count: of each status as many as the list has, whatever is asked for",
    breaks: (store) => altered(store, { count: ({ metadata: _, ...query } = {}, atMost) => store.count!(query, atMost) }),
  },
  {
    name: "counts all that there are",
    caughtBy: "count: at most so many of each status, and says that there may be more",
    breaks: (store) => altered(store, { count: (query, atMost) => store.count!(query, atMost === undefined ? atMost : atMost * 10) }),
  },
  {
    name: "does not say that it has counted no more",
    caughtBy: "count: at most so many of each status, and says that there may be more",
    breaks: (store) => altered(store, { count: async (query, atMost) => ({ ...(await store.count!(query, atMost)), capped: false }) }),
  },
  {
    name: "gives no summary at all if one is not there",
    caughtBy: "summaries: those that are there, as the list has them",
    breaks: (store) =>
      altered(store, {
        async summaries(ids) {
          const found = await store.summaries!(ids);
          return found.length < new Set(ids).size ? [] : found;
        },
      }),
  },
  {
    name: "counts by the time of the start",
    caughtBy: "ended: how many ended in each part of a time, and how long they took",
    breaks: (store) => countingBy(store, ({ createdAt }) => createdAt),
  },
  {
    name: "leaves out the last part of a time",
    caughtBy: "ended: how many ended in each part of a time, and how long they took",
    breaks: (store) =>
      altered(store, {
        async ended(query) {
          const series = await store.ended!(query);
          return { ...series, buckets: series.buckets.slice(0, -1) };
        },
      }),
  },
];

function countingBy(
  store: SnapshotStore,
  timeOf: (item: { readonly createdAt: number; readonly updatedAt: number }) => number,
): SnapshotStore {
  return altered(store, {
    async ended(query) {
      const series = await store.ended!(query);
      const { items } = await store.list({ status: ["completed", "failed", "cancelled"], limit: 1000 });
      const length = Math.ceil((query.to - query.from) / query.buckets);
      const buckets = series.buckets.map(({ from }) => {
        const inside = items.filter((item) => timeOf(item) >= from && timeOf(item) < Math.min(query.to, from + length));
        const classes = (status: string): number[] =>
          Array.from(
            { length: 11 },
            (_, index) =>
              inside.filter((item) => item.status === status && durationClassOf(item.updatedAt - item.createdAt) === index).length,
          );
        return { from, durations: { completed: classes("completed"), failed: classes("failed"), cancelled: classes("cancelled") } };
      });
      return { ...series, buckets };
    },
  });
}
