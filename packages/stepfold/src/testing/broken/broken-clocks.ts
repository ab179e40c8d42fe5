import { altered, type BrokenStore } from "./broken-store.ts";

/** Mistakes in telling the time. */
export const brokenClocks: readonly BrokenStore[] = [
  {
    name: "tells the time of another machine",
    caughtBy: "clock: the one that leases begin by",
    breaks: (store) => altered(store, { now: async () => (await store.now()) + 3_000 }),
  },
  {
    name: "tells the time in seconds",
    caughtBy: "clock: the one that leases begin by",
    breaks: (store) => altered(store, { now: async () => Math.floor((await store.now()) / 1_000) }),
  },
  {
    name: "tells parts of milliseconds",
    caughtBy: "clock: the one that leases begin by",
    breaks: (store) => altered(store, { now: async () => (await store.now()) + 0.5 }),
  },
  {
    name: "tells the time of its last write",
    caughtBy: "clock: goes on while nothing happens",
    breaks(store) {
      let told: Promise<number> | null = null;
      const written = <A extends readonly unknown[], R>(write: (...given: A) => Promise<R>) => {
        return async (...given: A): Promise<R> => {
          const answer = await write(...given);
          told = null;
          return answer;
        };
      };
      return altered(store, {
        now: () => (told ??= store.now()),
        create: written((commit, options) => store.create(commit, options)),
        commit: written((commit) => store.commit(commit)),
        renew: written((claim) => store.renew(claim)),
        claim: written((options) => store.claim(options)),
      });
    },
  },
];
