import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { TrimOptions, TrimReport } from "../../../ports/store-removal.ts";
import { altered, type BrokenStore } from "../broken-store.ts";

const goesOn = "reopen: an ended execution goes on under its history, and can be claimed";
const isNotDeleted = "reopen: an open execution is neither pruned nor deleted, and its next end counts";
const trimsOnce = "trim: deletes the events between the first one and the present run, once";

/** Mistakes with executions that are opened again, with ids that are used again, and with events of earlier runs. */
export const brokenRuns: readonly BrokenStore[] = [
  {
    name: "takes a commit that opens an execution also if it is open",
    caughtBy: "reopen: an open execution is refused, as is an older version, another incarnation or an unknown id",
    breaks: (store) =>
      altered(store, {
        async commit(commit) {
          const { reopens: _, ...plain } = commit;
          await store.commit(commit).catch((error: unknown) => {
            if (!StepfoldError.is(error, "EXECUTION_OPEN")) throw error;
            return store.commit(plain);
          });
        },
      }),
  },
  {
    name: "lets nothing follow an end, not even a restart",
    caughtBy: goesOn,
    breaks: (store) => altered(store, { commit: ({ reopens: _, ...commit }) => store.commit(commit) }),
  },
  {
    name: "acknowledges every restart of an execution",
    caughtBy: "reopen: of 20 at once exactly one wins (one handle)",
    breaks: (store) =>
      altered(store, {
        commit: (commit) =>
          store.commit(commit).catch((error: unknown) => {
            if (!commit.reopens || !StepfoldError.is(error, "VERSION_CONFLICT")) throw error;
          }),
      }),
  },
  {
    name: "does not recognise a repeated restart",
    caughtBy: "reopen: the same commit again is acknowledged, also after the execution went on or has ended again",
    breaks(store) {
      let calls = 0;
      return reopening(store, (commit) => ({ ...commit, commitId: `${commit.commitId}-${++calls}` }));
    },
  },
  {
    name: "does not make an execution due that it opens",
    caughtBy: goesOn,
    breaks: (store) => reopening(store, (commit) => ({ ...commit, wakeAt: null })),
  },
  {
    name: "makes an execution due at once that it opens",
    caughtBy: "reopen: the execution is due when the commit says so",
    breaks: (store) => reopening(store, (commit) => ({ ...commit, wakeAt: 0 })),
  },
  {
    name: "does not list the waits of an execution that it opens",
    caughtBy: "reopen: lists find the execution by its status and its waits",
    breaks: (store) => reopening(store, ({ waits: _, ...commit }) => commit),
  },
  {
    name: "deletes an execution that was opened again",
    caughtBy: isNotDeleted,
    breaks: deletingOpen,
  },
  {
    name: "keeps an execution among those that have ended when it opens it",
    caughtBy: isNotDeleted,
    breaks(store) {
      return knowingOpened(store, (opened) => ({
        async prune(options) {
          const report = await store.prune(options);
          return { ...report, executions: report.executions + opened.size };
        },
      }));
    },
  },
  {
    name: "counts the claim that an execution had at its end as lost when it opens it",
    caughtBy: "reopen: a claim that ended with the execution is not counted as lost",
    breaks(store) {
      return knowingOpened(store, (opened) => ({
        async claim(options) {
          const claims = await store.claim(options);
          return claims.map((claim) => (opened.has(claim.workflowId) ? { ...claim, crashes: claim.crashes + 1 } : claim));
        },
      }));
    },
  },
  {
    name: "counts both ends of an execution in a series",
    caughtBy: "reopen: a series counts an execution once, at its last end",
    breaks(store) {
      return knowingOpened(store, (opened) => ({
        async ended(query) {
          const { buckets, ...series } = await store.ended!(query);
          const more = (counts: readonly number[]): number[] => counts.map((count, index) => (index === 0 ? count + opened.size : count));
          return {
            ...series,
            buckets: buckets.map((one) => ({ ...one, durations: { ...one.durations, failed: more(one.durations.failed) } })),
          };
        },
      }));
    },
  },
  {
    name: "keeps the id of a deleted execution taken, whatever the creation says",
    caughtBy: "reuse: a creation may take the id of a deleted execution before the retention is over",
    breaks: (store) => altered(store, { create: ({ reusesId: _, ...commit }, options) => store.create(commit, options) }),
  },
  {
    name: "says that it trims, and does not",
    caughtBy: trimsOnce,
    breaks: (store) => altered(store, { trim: (options) => store.trim({ ...options, dryRun: true }) }),
  },
  {
    name: "trims the first event too",
    caughtBy: trimsOnce,
    breaks: (store) => showingEvents(store, ({ version }, isTrimmed) => version > 0 || !isTrimmed),
  },
  {
    name: "trims the event with which the present run began",
    caughtBy: trimsOnce,
    breaks: (store) => showingEvents(store, ({ event }, isTrimmed) => event.type !== "continued" || !isTrimmed),
  },
  {
    name: "does not see behind the gap of a trim",
    caughtBy: "trim: a history that is read page by page meanwhile goes on behind the gap",
    breaks: (store) =>
      altered(store, {
        events: async (workflowId, after, limit) =>
          (await store.events(workflowId, after, limit)).filter(({ version }) => version <= after + limit),
      }),
  },
  {
    name: "reports a trim that was made before",
    caughtBy: trimsOnce,
    breaks(store) {
      let last: TrimReport | null = null;
      return trimming(store, (_, report) => {
        if (report.executions > 0) last = report;
        return last ?? report;
      });
    },
  },
  {
    name: "trims executions that have no checkpoint of their present run",
    caughtBy: "trim: an execution without a checkpoint since its run began is left, until it has one",
    breaks: (store) => trimming(store, (_, report) => ({ ...report, trimmed: [...report.trimmed, ...report.left], left: [] })),
  },
  {
    name: "counts the events that were trimmed when it prunes",
    caughtBy: "trim: the execution goes on, and later runs are trimmed again",
    breaks(store) {
      let gone = 0;
      const trim = trimming(store, (options, report) => {
        if (!options.dryRun) gone += report.events;
        return report;
      });
      return altered(trim, {
        async prune(options) {
          const report = await store.prune(options);
          return { ...report, events: report.events + gone };
        },
      });
    },
  },
  ...(
    [
      ["trims runs that began later too", "before", "trim: only runs that began before the time, the oldest first, and at most the limit"],
      ["trims more than the limit", "limit", "trim: only runs that began before the time, the oldest first, and at most the limit"],
      ["trims executions of other workflows too", "definitionId", "trim: of one workflow definition, if asked so"],
      ["trims other executions too", "workflowId", "trim: of one execution, if asked so"],
      ["trims in a dry run", "dryRun", "trim: a dry run reports the same and deletes nothing"],
    ] as const
  ).map(([name, option, caughtBy]): BrokenStore => {
    const ignored: TrimOptions = { before: Number.MAX_SAFE_INTEGER };
    const without = (options: TrimOptions): TrimOptions => {
      const { [option]: _, ...others } = options;
      return { ...ignored, ...others };
    };
    return { name, caughtBy, breaks: (store) => altered(store, { trim: (options) => store.trim(without(options)) }) };
  }),
  {
    name: "does not know that a copy has a gap",
    caughtBy: "trim: a copy of a trimmed execution has the same gap",
    breaks: (store) => altered(store, { commit: ({ afterTrim: _, ...commit }) => store.commit(commit) }),
  },
];

/** Makes a store that changes the commits which open an execution again. */
function reopening(store: SnapshotStore, change: (commit: Commit) => Commit): SnapshotStore {
  return altered(store, { commit: (commit) => store.commit(commit.reopens ? change(commit) : commit) });
}

/** Makes a store that behaves otherwise for the executions which it has opened again. */
function knowingOpened(store: SnapshotStore, change: (opened: ReadonlySet<string>) => Partial<SnapshotStore>): SnapshotStore {
  const opened = new Set<string>();
  return altered(
    reopening(store, (commit) => remembered(opened, commit)),
    change(opened),
  );
}

function remembered(ids: Set<string>, commit: Commit): Commit {
  ids.add(commit.workflowId);
  return commit;
}

/** Makes a store that gives another report of a trim. */
function trimming(store: SnapshotStore, change: (options: TrimOptions, report: TrimReport) => TrimReport): SnapshotStore {
  return altered(store, { trim: async (options) => change(options, await store.trim(options)) });
}

/** Makes a store that shows only some events. */
function showingEvents(
  store: SnapshotStore,
  isShown: (row: Awaited<ReturnType<SnapshotStore["events"]>>[number], isTrimmed: boolean) => boolean,
): SnapshotStore {
  let isTrimmed = false;
  const trim = trimming(store, (options, report) => {
    isTrimmed ||= report.executions > 0 && !options.dryRun;
    return report;
  });
  return altered(trim, {
    events: async (...asked) => (await store.events(...asked)).filter((row) => isShown(row, isTrimmed)),
  });
}

function deletingOpen(store: SnapshotStore): SnapshotStore {
  return altered(store, {
    async delete(workflowId) {
      await store.delete(workflowId).catch((error: unknown) => {
        if (!StepfoldError.is(error, "EXECUTION_OPEN")) throw error;
      });
    },
  });
}
