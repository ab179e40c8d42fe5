import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

/** Mistakes that show only with damaged rows, lost connections or values that are too large. */
export const brokenTrouble: readonly BrokenStore[] = [
  {
    name: "says that what is damaged was never there",
    caughtBy: "trouble: what is damaged is refused when it is loaded, and in nobody's way",
    breaks: (store) => altered(store, { load: (id) => store.load(id).catch(() => null) }),
  },
  {
    name: "cannot list what lies beside something damaged",
    caughtBy: "trouble: what is damaged is refused when it is loaded, and in nobody's way",
    breaks: (store) => altered(store, { list: (query) => whole(store, () => store.list(query)) }),
  },
  {
    name: "claims nothing while something damaged is due",
    caughtBy: "trouble: what is damaged does not keep others from being claimed, and is not tried again and again",
    breaks: (store) => altered(store, { claim: (options) => whole(store, () => store.claim(options)).catch(() => []) }),
  },
  {
    name: "leaves a gap in a page for what is damaged",
    caughtBy: "trouble: a page is full although something in it is damaged",
    breaks: (store) =>
      altered(store, {
        async list(query) {
          const page = await store.list(query);
          // Such a store takes this page for one that is not full, and so for the last one.
          return page.items.length === query?.limit && (await isDamaged(store)) ? { ...page, nextCursor: null } : page;
        },
      }),
  },
  {
    name: "does not recognise what it had applied before the connection ended",
    caughtBy: "trouble: commits that were under way when the connection ended are applied once or not at all",
    breaks: forgetful,
  },
  {
    name: "applies what was under way when the connection ended a second time",
    caughtBy: "trouble: commits that were under way when the connection ended are applied once or not at all",
    breaks: twofold,
  },
  {
    name: "takes what it cannot hold",
    caughtBy: "trouble: a value that the store cannot hold is refused with its size and place, and nothing changes",
    breaks: (store) => altered(store, { features: { ...store.features, maxValueBytes: 10_000 } }),
  },
  {
    name: "refuses what it cannot hold without saying where it is",
    caughtBy: "trouble: a value that the store cannot hold is refused with its size and place, and nothing changes",
    breaks: (store) =>
      altered(store, {
        features: { ...store.features, maxValueBytes: 10_000 },
        async commit(commit) {
          const actual = JSON.stringify(commit.events).length;
          if (actual > 10_000) throw new StepfoldError("LIMIT_EXCEEDED", { what: "An event", limit: "value", max: 10_000, actual });
          await store.commit(commit);
        },
      }),
  },
];

/** The ids of the executions in the contract cases. */
const ids = ["a", "b", "c", "d", "e"];

async function isDamaged(store: SnapshotStore): Promise<boolean> {
  for (const id of ids)
    if (
      await store
        .load(id)
        .catch(() => true as const)
        .then((found) => found === true)
    )
      return true;
  return false;
}

/** Runs `work`, but fails if any execution is damaged. */
async function whole<T>(store: SnapshotStore, work: () => Promise<T>): Promise<T> {
  for (const id of ids) await store.load(id);
  return work();
}

/** Makes a store that loses the first acknowledgement of each commit, and takes the repeated commit for another one. */
function forgetful(store: SnapshotStore): SnapshotStore {
  const seen = new Set<string>();
  return altered(store, {
    async commit(commit) {
      const isFirst = !seen.has(commit.commitId);
      seen.add(commit.commitId);
      await store.commit(isFirst ? commit : { ...commit, commitId: `${commit.commitId} again` });
      if (isFirst) throw new StepfoldError("STORE_UNAVAILABLE", { store: "broken", reason: "the connection ended" });
    },
  });
}

function twofold(store: SnapshotStore): SnapshotStore {
  const seen = new Set<string>();
  const next = (commit: Commit): Commit => {
    const { version } = commit.head;
    const events = commit.events.map((event) => ({ ...event, version: version + 1 }));
    return {
      ...commit,
      commitId: `${commit.commitId} again`,
      expectedVersion: version,
      head: { ...commit.head, version: version + 1 },
      events,
    };
  };
  return altered(store, {
    async commit(commit) {
      if (seen.has(commit.commitId)) {
        await store.commit(next(commit));
        return;
      }
      seen.add(commit.commitId);
      await store.commit(commit);
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "broken", reason: "the connection ended" });
    },
  });
}
