import { isTerminal, type NodeResult } from "../../core/snapshot/snapshot.ts";
import type { ChangedChild, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { showing, withChildren, writingInstead } from "./altered-commits.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

/** Mistakes in loading children, maps, variables and the inbox, and in what is left of children later. */
export const brokenScopes: readonly BrokenStore[] = [
  {
    name: "shows children by their key, whosever they are",
    caughtBy: "children: those of other executions with the same keys are others",
    breaks: sharing,
  },
  {
    name: "sorts children by their keys",
    caughtBy: "children: in order of creation, however they change",
    breaks: (store) =>
      showing(store, (snapshot) => {
        const sorted = Object.entries(snapshot.childStates ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
        return sorted.length === 0 ? snapshot : { ...snapshot, childStates: Object.fromEntries(sorted) };
      }),
  },
  {
    name: "leaves children behind when it deletes their execution",
    caughtBy: "children: they go with their execution by delete, and an id that is used again has none of them",
    breaks: leftBehind,
  },
  {
    name: "leaves children behind when it prunes",
    caughtBy: "children: they go with their execution by prune, and an id that is used again has none of them",
    breaks: leftBehind,
  },
  {
    name: "mixes the results of children into those of the execution",
    caughtBy: "scopes: results of children are theirs, and not the execution's",
    breaks: (store) =>
      showing(store, (snapshot) => {
        const context: Record<string, readonly NodeResult[]> = { ...snapshot.context };
        for (const child of Object.values(snapshot.childStates ?? {})) {
          for (const [nodeId, results] of Object.entries(child.context)) context[nodeId] = [...(context[nodeId] ?? []), ...results];
        }
        return { ...snapshot, context };
      }),
  },
  {
    name: "shows no results of children that ended",
    caughtBy: "scopes: of a child that ended nothing stays but its output, unless it is kept",
    breaks: (store) =>
      showing(store, (snapshot) => {
        const ended = Object.entries(snapshot.childStates ?? {}).filter(([, { status }]) => isTerminal(status));
        const emptied = ended.map(([key, child]) => [key, { ...child, context: {} }] as const);
        return emptied.length === 0 ? snapshot : { ...snapshot, childStates: { ...snapshot.childStates, ...Object.fromEntries(emptied) } };
      }),
  },
  {
    name: "loses the items of maps",
    caughtBy: "scopes: items of maps are there while the map is, with those added to it",
    breaks: (store) => showing(store, ({ mapItems: _, ...snapshot }) => snapshot),
  },
  {
    name: "loses what was undone",
    caughtBy: "scopes: what was undone is told apart from what was done",
    breaks: (store) => showing(store, ({ compensations: _, ...snapshot }) => snapshot),
  },
  {
    name: "loses variables",
    caughtBy: "scopes: variables are those of the execution and of each child, as far as a path can read them",
    breaks: (store) => showing(store, ({ variables: _, ...snapshot }) => snapshot),
  },
  {
    name: "keeps of events only what it knows",
    caughtBy: "scopes: events come back with scope and consequences, and results that followed are where they belong",
    breaks: (store) =>
      writingInstead(store, (commit) => ({
        ...commit,
        events: commit.events.map(({ consequences: _, ...event }) => event as Commit["events"][number]),
      })),
  },
  {
    name: "never lets go of an inbox",
    caughtBy: "scopes: inbox, rounds and ending of the head come and go with it",
    breaks(store) {
      let inbox: Commit["head"]["inbox"];
      return writingInstead(store, (commit) => {
        inbox = commit.head.inbox ?? inbox;
        return inbox ? { ...commit, head: { ...commit.head, inbox } } : commit;
      });
    },
  },
];

/** Makes a store with one table for the children of all executions, by key. */
function sharing(store: SnapshotStore): SnapshotStore {
  const latest = new Map<string, ChangedChild["head"]>();
  const noted = writingInstead(store, (commit) => {
    for (const { key, head } of commit.children ?? []) latest.set(key, head);
    return commit;
  });
  return showing(noted, (snapshot) => {
    const changes = Object.keys(snapshot.childStates ?? {}).map((key) => ({ key, head: latest.get(key) ?? null }));
    return withChildren(snapshot, changes);
  });
}

/** Makes a store that shows the children of a deleted execution in a new one with the same id. */
function leftBehind(store: SnapshotStore): SnapshotStore {
  const written = new Map<string, ChangedChild[]>();
  const left = new Map<string, ChangedChild[]>();
  const noted = writingInstead(store, (commit) => {
    written.set(commit.workflowId, [...(written.get(commit.workflowId) ?? []), ...(commit.children ?? [])]);
    return commit;
  });
  const shown = showing(noted, (snapshot) => {
    const known = snapshot.childStates ?? {};
    return withChildren(
      snapshot,
      (left.get(snapshot.workflowId) ?? []).filter(({ key }) => !Object.hasOwn(known, key)),
    );
  });
  const look = async (): Promise<void> => {
    for (const [id, children] of written) if (!(await store.load(id))) left.set(id, children);
  };
  return altered(shown, {
    delete: (workflowId) => store.delete(workflowId).then(look),
    prune: (options) => store.prune(options).then((report) => look().then(() => report)),
  });
}
