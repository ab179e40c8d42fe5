import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";
import type { AppendedRow, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";
import { rebased } from "./rebased.ts";
import { renamed } from "./renamed.ts";

/** Mistakes in `create` and `commit`. */
export const brokenCommits: readonly BrokenStore[] = [
  {
    name: "ignores the expected version",
    caughtBy: "commit: a stale version is refused and writes nothing",
    breaks: (store) => altered(store, { commit: (commit) => force(store, commit) }),
  },
  {
    name: "checks the version first and writes afterwards",
    caughtBy: "race: of 20 writers on one version exactly one wins (one handle)",
    breaks: (store) =>
      altered(store, {
        async commit(commit) {
          const actual = (await store.load(commit.workflowId))?.version ?? null;
          if (actual === commit.expectedVersion) return force(store, commit);
          return store.commit(commit);
        },
      }),
  },
  {
    name: "ignores the fence",
    caughtBy: "fence: a holder that was replaced is refused, and nothing is written",
    breaks: (store) => altered(store, { commit: ({ fence: _, ...commit }) => store.commit(commit) }),
  },
  {
    name: "ignores the incarnation",
    caughtBy: "commit: another incarnation is refused",
    breaks: (store) =>
      altered(store, {
        async commit(commit) {
          const { incarnation = "" } = (await store.load(commit.workflowId)) ?? {};
          return store.commit({ ...commit, incarnation });
        },
      }),
  },
  {
    name: "does not recognise a repeated commit",
    caughtBy: "commit: the same commit again is acknowledged once applied",
    breaks(store) {
      let calls = 0;
      return altered(store, { commit: (commit) => store.commit({ ...commit, commitId: `${commit.commitId}-${++calls}` }) });
    },
  },
  {
    name: "does not recognise a repeated create",
    caughtBy: "create: the same commit again is acknowledged",
    breaks(store) {
      let calls = 0;
      const create: SnapshotStore["create"] = (commit, options) =>
        store.create({ ...commit, commitId: `${commit.commitId}-${++calls}` }, options);
      return altered(store, { create });
    },
  },
  {
    name: "takes every commit for a repeated one",
    caughtBy: "commit: another commit with the same content is not the same commit",
    breaks: (store) =>
      altered(store, {
        commit: (commit) =>
          store.commit(commit).catch((error: unknown) => {
            if (!StepfoldError.is(error, "VERSION_CONFLICT") || error.details.actual === null) throw error;
          }),
      }),
  },
  {
    name: "create overwrites what is there",
    caughtBy: "create: an id that is taken is refused, and what is there stays",
    breaks(inner) {
      const { store, letGo } = renamed(inner);
      return altered(store, {
        create: (commit, options) =>
          store.create(commit, options).catch((error: unknown) => {
            if (!StepfoldError.is(error, "WORKFLOW_EXISTS") || error.details.deletedAt !== undefined) throw error;
            letGo(commit.workflowId);
            return store.create(commit, options);
          }),
      });
    },
  },
  {
    name: "create is content with what is there",
    caughtBy: "race: of 100 creators of one id exactly one wins (one handle)",
    breaks: (store) =>
      altered(store, {
        create: (commit, options) =>
          store.create(commit, options).catch((error: unknown) => {
            if (!StepfoldError.is(error, "WORKFLOW_EXISTS") || error.details.deletedAt !== undefined) throw error;
            return null;
          }),
      }),
  },
  {
    name: "writes rows first and the head second",
    caughtBy: "events: no event is seen before the head that it belongs to",
    breaks: rowsFirst,
  },
  {
    name: "writes the events of a commit one by one",
    caughtBy: "load: consistent while others commit",
    breaks: (store) =>
      altered(store, {
        async commit(commit) {
          const { events, head, expectedVersion } = commit;
          for (const [index, event] of events.entries()) {
            const version = expectedVersion + index;
            await store.commit({ ...commit, expectedVersion: version, events: [event], head: { ...head, version: version + 1 } });
          }
        },
      }),
  },
  {
    name: "lets an ended execution go on, silently",
    caughtBy: "commit: nothing follows completed",
    breaks: (store) =>
      altered(store, {
        commit: (commit) =>
          store.commit(commit).catch((error: unknown) => {
            if (!StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
          }),
      }),
  },
  {
    name: "keeps the objects that it was given",
    caughtBy: "load: changing what was handed in changes nothing that is stored",
    breaks(store) {
      const given = new Map<string, Readonly<Record<string, Json>>>();
      return altered(store, {
        create(commit, options) {
          if (!given.has(commit.workflowId)) given.set(commit.workflowId, commit.head.metadata);
          return store.create(commit, options);
        },
        async load(workflowId) {
          const snapshot = await store.load(workflowId);
          return snapshot && { ...snapshot, metadata: given.get(workflowId) ?? snapshot.metadata };
        },
      });
    },
  },
  {
    name: "undoes the neighbours of a refused commit",
    caughtBy: "commit: refused ones do not disturb others issued together with them",
    breaks: failingTogether,
  },
];

/** Applies a commit, whatever version is stored. */
async function force(store: SnapshotStore, commit: Commit): Promise<void> {
  try {
    await store.commit(commit);
  } catch (error) {
    if (!StepfoldError.is(error, "VERSION_CONFLICT") || error.details.actual === null) throw error;
    await force(store, rebased(commit, error.details.actual));
  }
}

function rowsFirst(store: SnapshotStore): SnapshotStore {
  const early = new Map<string, AppendedRow[]>();
  return altered(store, {
    async commit(commit) {
      const { workflowId, commitId } = commit;
      const rows = commit.events.map((event) => ({ version: event.version, commitId, event }));
      early.set(workflowId, [...(early.get(workflowId) ?? []), ...rows]);
      for (let turns = 0; turns < 5; turns++) await store.load(workflowId);
      return store.commit(commit);
    },
    async events(workflowId, afterVersion, limit) {
      const rows = [...(await store.events(workflowId, afterVersion, limit))];
      const known = new Set(rows.map(({ version }) => version));
      for (const row of early.get(workflowId) ?? []) if (row.version > afterVersion && !known.has(row.version)) rows.push(row);
      return rows.slice(0, limit);
    },
  });
}

/** Makes a store in which commits that run at the same time all fail if one of them fails. */
function failingTogether(store: SnapshotStore): SnapshotStore {
  let batch: Promise<unknown>[] = [];
  return altered(store, {
    async commit(commit) {
      if (isTerminal(commit.head.status)) return store.commit(commit);
      const mine = batch;
      mine.push(store.commit(commit));
      const settled = Promise.allSettled(mine);
      await settled;
      batch = [];
      await Promise.all(mine);
    },
  });
}
