import type { ListedWait } from "../../core/transition/draft/listed-waits.ts";
import type { WaitFilter } from "../../ports/list-filters.ts";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

const finds = "waiting: lists find an execution by each thing that one of its waits says";
const since = "waiting: lists find an execution by when one of its waits was opened";
const now = "waiting: an execution is found by what it waits for now, and no more by what it has waited for";

/** Mistakes in listing the waits of executions. */
export const brokenWaits: readonly BrokenStore[] = [
  {
    name: "lists whatever it waits for",
    caughtBy: finds,
    breaks: (store) => altered(store, { list: ({ waiting: _, ...query } = {}) => store.list(query) }),
  },
  {
    name: "takes no waits from the commit that creates an execution",
    caughtBy: finds,
    breaks: (store) => altered(store, { create: ({ waits: _, ...commit }, options) => store.create(commit, options) }),
  },
  {
    name: "knows the first one only of those who may answer",
    caughtBy: finds,
    breaks: (store) =>
      writing(store, ({ responders, ...wait }) => ({ ...wait, ...(responders && { responders: responders.slice(0, 1) }) })),
  },
  {
    name: "finds names that begin so",
    caughtBy: finds,
    breaks: (store) =>
      altered(store, {
        async list({ waiting, ...query } = {}) {
          if (waiting?.responder === undefined) return store.list(waiting ? { ...query, waiting } : query);
          const page = await store.list({ ...query, waiting: {} });
          const isMeant = ({ responders = [] }: ListedWait): boolean => responders.some((name) => name.startsWith(waiting.responder!));
          return { ...page, items: page.items.filter(({ waits = [] }) => waits.some(isMeant)) };
        },
      }),
  },
  {
    name: "lists what is asked without its payload",
    caughtBy: "waiting: a list tells what is asked, and any other list does not",
    breaks: (store) =>
      altered(store, {
        async list(query) {
          const { items, ...page } = await store.list(query);
          const lean = items.map((item) => ({ ...item, ...(item.asked && { asked: item.asked.map(({ payload: _, ...wait }) => wait) }) }));
          return { ...page, items: lean };
        },
      }),
  },
  {
    name: "does not keep since when waits are open",
    caughtBy: since,
    breaks: (store) => writing(store, ({ openedAt: _, ...wait }) => wait),
  },
  {
    name: "finds what was opened at the very time",
    caughtBy: since,
    breaks: (store) =>
      askingWaits(store, ({ openedBefore, ...waiting }) => ({ ...waiting, ...(openedBefore && { openedBefore: openedBefore + 1 }) })),
  },
  {
    name: "takes a wait without a time for an old one",
    caughtBy: since,
    breaks: (store) => writing(store, (wait) => ({ openedAt: 0, ...wait })),
  },
  {
    name: "counts waits whenever they were opened",
    caughtBy: since,
    breaks: (store) =>
      altered(store, {
        count: ({ waiting, ...query } = {}, atMost) => {
          const { openedBefore: _, openedAfter: __, ...others } = waiting ?? {};
          return store.count!({ ...query, ...(waiting && { waiting: others }) }, atMost);
        },
      }),
  },
  {
    name: "takes what two waits say together for one wait",
    caughtBy: "waiting: several things must be true of one and the same wait",
    breaks: (store) =>
      altered(store, {
        async list({ waiting = {}, ...query } = {}) {
          const page = await store.list(query);
          const isMeant = (waits: readonly ListedWait[]): boolean =>
            Object.entries(waiting).every(([field, value]) => waits.some((wait) => says(wait, { [field]: value })));
          return { ...page, items: page.items.filter(({ waits = [] }) => isMeant(waits)) };
        },
      }),
  },
  {
    name: "keeps a wait that is over",
    caughtBy: now,
    breaks: (store) =>
      altered(store, {
        commit: ({ waits, ...commit }) => store.commit(waits?.length === 0 ? commit : { ...commit, ...(waits && { waits }) }),
      }),
  },
  {
    name: "forgets waits with each commit that says nothing of them",
    caughtBy: now,
    breaks: (store) => altered(store, { commit: (commit) => store.commit({ waits: [], ...commit }) }),
  },
  {
    name: "writes waits apart from the commit, before it",
    caughtBy: "waiting: a commit that is refused changes nothing of it",
    breaks(store) {
      const told = new Map<string, Commit["waits"]>();
      const noted = (commit: Commit): Commit => {
        if (commit.waits) told.set(commit.workflowId, commit.waits);
        return commit;
      };
      return altered(store, {
        create: (commit, options) => store.create(noted(commit), options),
        commit: (commit) => store.commit(noted(commit)),
        async list({ waiting, ...query } = {}) {
          const page = await store.list(query);
          if (!waiting) return page;
          return { ...page, items: page.items.filter(({ workflowId }) => told.get(workflowId)?.some((wait) => says(wait, waiting))) };
        },
      });
    },
  },
  {
    name: "shows waits among the metadata",
    caughtBy: "waiting: it is told apart from metadata, from the tenant, and from other texts",
    breaks: (store) =>
      altered(store, {
        async load(id) {
          const snapshot = await store.load(id);
          const { waits } = (await store.list()).items.find(({ workflowId }) => workflowId === id) ?? {};
          return snapshot && waits ? { ...snapshot, metadata: { ...snapshot.metadata, waits: waits as never } } : snapshot;
        },
      }),
  },
];

function says({ responders = [], ...wait }: ListedWait, { responder, ...asked }: WaitFilter): boolean {
  if (responder !== undefined && !responders.includes(responder)) return false;
  return Object.entries(asked).every(([field, value]) => wait[field as keyof typeof wait] === value);
}

function askingWaits(store: SnapshotStore, change: (waiting: WaitFilter) => WaitFilter): SnapshotStore {
  return altered(store, {
    list: ({ waiting, ...query } = {}) => store.list(waiting ? { ...query, waiting: change(waiting) } : query),
  });
}

function writing(store: SnapshotStore, change: (wait: ListedWait) => ListedWait): SnapshotStore {
  const changed = (commit: Commit): Commit => (commit.waits ? { ...commit, waits: commit.waits.map(change) } : commit);
  return altered(store, {
    create: (commit, options) => store.create(changed(commit), options),
    commit: (commit) => store.commit(changed(commit)),
  });
}
