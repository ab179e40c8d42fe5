import type { KeptKeys } from "../../../ports/kept-keys.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "../broken-store.ts";

const findsEach = "keys: each is found with its version, in the days in which it was put, and no other one is";
const areOthers = "keys: those of another execution, or of another incarnation, are other keys";
const areLater = "keys: the same name again has the later version; all of a day can be read";
const areDropped = "keys: days are dropped whole, and no others";
const areDeleted = "keys: they are deleted with their execution, by delete and by prune";

/** Returns the store with some methods of its keys replaced. */
function withKeys(store: SnapshotStore, change: (keys: KeptKeys) => Partial<KeptKeys>): SnapshotStore {
  const keys = store.keptKeys!;
  return altered(store, { keptKeys: { ...keys, ...change(keys) } });
}

/** Mistakes with the older idempotency keys of executions. */
export const brokenKeys: readonly BrokenStore[] = [
  {
    name: "finds a key on any day",
    caughtBy: findsEach,
    breaks: (store) => withKeys(store, ({ find }) => ({ find: (owner, days, name) => find(owner, [...days, 20_000, 20_001], name) })),
  },
  {
    name: "finds a key in capitals and small letters",
    caughtBy: findsEach,
    breaks: (store) => withKeys(store, ({ find }) => ({ find: (owner, days, name) => find(owner, days, name.toLowerCase()) })),
  },
  {
    name: "looks for a key only in the first day",
    caughtBy: findsEach,
    breaks: (store) => withKeys(store, ({ find }) => ({ find: (owner, days, name) => find(owner, days.slice(0, 1), name) })),
  },
  {
    name: "tells the keys of an id that was used again those of the execution before",
    caughtBy: areOthers,
    breaks: (store) =>
      withKeys(store, ({ put, find, all, drop }) => {
        const first = (owner: { readonly workflowId: string }) => ({ ...owner, incarnation: "first" });
        return {
          put: (owner, day, keys) => put(first(owner), day, keys),
          find: (owner, days, name) => find(first(owner), days, name),
          all: (owner, day) => all(first(owner), day),
          drop: (owner, days) => drop(first(owner), days),
        };
      }),
  },
  {
    name: "keeps the first version under a name",
    caughtBy: areLater,
    breaks: (store) =>
      withKeys(store, ({ put, all }) => ({
        async put(owner, day, keys) {
          const known = new Set((await all(owner, day)).map(({ name }) => name));
          await put(
            owner,
            day,
            keys.filter(({ name }) => !known.has(name)),
          );
        },
      })),
  },
  {
    name: "finds the version of the first day that has the name",
    caughtBy: areLater,
    breaks: (store) =>
      withKeys(store, ({ find }) => ({
        async find(owner, days, name) {
          for (const day of days) {
            const found = await find(owner, [day], name);
            if (found !== null) return found;
          }
          return null;
        },
      })),
  },
  {
    name: "reads only a part of a day",
    caughtBy: areLater,
    breaks: (store) => withKeys(store, ({ all }) => ({ all: async (owner, day) => (await all(owner, day)).slice(0, 100) })),
  },
  {
    name: "loses keys that are put at the same time",
    caughtBy: "keys: what many put at once is there",
    breaks(store) {
      let isPutting = false;
      return withKeys(store, ({ put }) => ({
        async put(owner, day, keys) {
          if (isPutting) return;
          isPutting = true;
          await put(owner, day, keys);
          isPutting = false;
        },
      }));
    },
  },
  {
    name: "drops all days up to the last one",
    caughtBy: areDropped,
    breaks: (store) =>
      withKeys(store, ({ drop }) => ({ drop: (owner, days) => drop(owner, [...days, ...days.map((day) => day + 1), 20_002]) })),
  },
  {
    name: "drops nothing",
    caughtBy: areDropped,
    breaks: (store) => withKeys(store, () => ({ drop: async () => undefined })),
  },
  {
    name: "leaves the keys of deleted executions",
    caughtBy: areDeleted,
    breaks(store) {
      // the store deletes what its own head names
      return altered(store, {
        commit: ({ head: { keyRows: _, ...head }, ...commit }) => store.commit({ ...commit, head }),
      });
    },
  },
];
