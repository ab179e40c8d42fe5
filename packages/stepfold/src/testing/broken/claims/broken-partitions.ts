import type { ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "../broken-store.ts";

/** A store that gets other options of claims than it was given. */
function claimsWith(name: string, caughtBy: string, change: (options: ClaimOptions) => ClaimOptions): BrokenStore {
  return { name, caughtBy, breaks: (store) => altered(store, { claim: (options) => store.claim(change(options)) }) };
}

/** A store that gets other commits than it was given. */
function createsWith(name: string, caughtBy: string, change: (commit: Commit) => Commit): BrokenStore {
  const create =
    (store: SnapshotStore): SnapshotStore["create"] =>
    (commit, options) =>
      store.create(change(commit), options);
  return { name, caughtBy, breaks: (store) => altered(store, { create: create(store) }) };
}

const takes = "task queue: a process that names some takes their executions and no others";
const left = "lacks: what a process cannot run is left to others, which claim it";
const byId = (what: string): string =>
  `${what}: an execution is not claimed by its id by a process that ${what === "lacks" ? "cannot run it" : "does not take it"}`;

/** Mistakes with task queues, and with executions that a process cannot run. */
export const brokenPartitions: readonly BrokenStore[] = [
  claimsWith("takes no notice of task queues", takes, ({ taskQueues: _, ...options }) => options),
  claimsWith("takes the default task queue in addition to those that are named", takes, (options) =>
    options.taskQueues ? { ...options, taskQueues: [...options.taskQueues, "default"] } : options,
  ),
  claimsWith("takes the default task queue if none is named", takes, ({ taskQueues = ["default"], ...options }) => ({
    ...options,
    taskQueues,
  })),
  claimsWith("takes no notice of task queues when it is asked for an id", byId("task queue"), ({ taskQueues, ...options }) =>
    options.workflowId === undefined && taskQueues ? { ...options, taskQueues } : options,
  ),
  createsWith("has another task queue for those that name the default one", takes, (commit) =>
    commit.head.taskQueue === "default" ? { ...commit, head: { ...commit.head, taskQueue: "default-named" } } : commit,
  ),
  createsWith(
    "counts a concurrency key for each task queue by itself",
    "task queue: executions of one concurrency key share its limit, whichever task queues they are in",
    ({ head, ...commit }) => {
      const permit = head.permit && { ...head.permit, key: `${head.permit.key}${head.taskQueue ?? ""}` };
      return { ...commit, head: { ...head, ...(permit && { permit }) } };
    },
  ),
  {
    name: "claims without a permit what is in other task queues",
    caughtBy: "task queue: one that needs no permit at this moment is claimed without one only by a process that takes it",
    breaks: (store) =>
      altered(store, {
        async claim({ taskQueues, ...options }) {
          const claims = await store.claim({ ...options, ...(taskQueues && { taskQueues }) });
          const others = taskQueues ? await store.claim(options) : [];
          for (const claim of others) if (!claim.withoutPermit) await store.release(claim, claim.version);
          return [...claims, ...others.filter(({ withoutPermit }) => withoutPermit)];
        },
      }),
  },
  claimsWith("claims what a process lacks", left, ({ lacks: _, ...options }) => options),
  claimsWith("claims what a process lacks when it is asked for its id", byId("lacks"), ({ lacks, ...options }) =>
    options.workflowId === undefined && lacks ? { ...options, lacks } : options,
  ),
  {
    name: "keeps what one process lacks from all others",
    caughtBy: left,
    breaks(store) {
      const all = new Set<string>();
      return altered(store, {
        claim(options) {
          for (const hash of options.lacks ?? []) all.add(hash);
          return store.claim({ ...options, lacks: all });
        },
      });
    },
  },
  {
    name: "finds nothing behind many that a process lacks",
    caughtBy: "lacks: however many a process cannot run, those behind them are claimed at once, the longest due first",
    breaks(store) {
      let created = 0;
      return altered(store, {
        create(commit, options) {
          created++;
          return store.create(commit, options);
        },
        claim: async (options) => (options.lacks && created > 100 ? [] : store.claim(options)),
      });
    },
  },
  {
    name: "holds up a concurrency key by what a process lacks",
    caughtBy: "lacks: one that a process cannot run holds up no other one of its concurrency key, and keeps to its limit",
    breaks(store) {
      let isKeyed = false;
      return altered(store, {
        create(commit, options) {
          isKeyed ||= commit.head.permit !== undefined && commit.head.definition.id === "gone";
          return store.create(commit, options);
        },
        claim: async (options) => (options.lacks && isKeyed ? [] : store.claim(options)),
      });
    },
  },
  createsWith(
    "counts no rate of what a process lacks",
    "lacks: one that waits for its rate is left to others, and counts for the rate",
    (commit) => {
      const { rate, ...head } = commit.head;
      return rate && head.definition.id === "gone" ? { ...commit, head } : commit;
    },
  ),
  {
    name: "hides what a process lacks from those who come after its lost holder",
    caughtBy: "lacks: one whose holder was lost is left to others when its lease has ended",
    breaks(store) {
      return altered(store, {
        claim: async (options) => {
          const claims = await store.claim(options);
          return claims.map((claim) => ({ ...claim, expired: 0, crashes: 0 }));
        },
      });
    },
  },
  {
    name: "judges a run by the definition of the start",
    caughtBy: "lacks: a run that follows another definition is judged by that one",
    breaks(store) {
      const first = new Map<string, Commit["head"]["definition"]>();
      return altered(store, {
        create(commit, options) {
          first.set(commit.workflowId, commit.head.definition);
          return store.create(commit, options);
        },
        commit: (commit) =>
          store.commit({ ...commit, head: { ...commit.head, definition: first.get(commit.workflowId) ?? commit.head.definition } }),
      });
    },
  },
  {
    name: "claims what was left to others although it only waits",
    caughtBy: "lacks: one that was left to others goes on by commands and by its end, as every other one",
    breaks: (store) => altered(store, { commit: (commit) => store.commit({ ...commit, wakeAt: commit.wakeAt ?? 0 }) }),
  },
];
