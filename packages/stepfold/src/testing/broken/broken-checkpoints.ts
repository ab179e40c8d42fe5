import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { HistoryCheckpoint } from "../../core/snapshot/history-checkpoint.ts";
import { leanHead } from "../../core/snapshot/large-values.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { showing, writingInstead } from "./altered-commits.ts";
import { altered, type BrokenStore } from "./broken-store.ts";

/** Mistakes with checkpoints. */
export const brokenCheckpoints: readonly BrokenStore[] = [
  {
    name: "loses checkpoints",
    caughtBy: "checkpoints: load gives what the last one holds, and what came after it",
    breaks: (store) => writingInstead(store, ({ checkpoint: _, ...commit }) => commit),
  },
  {
    name: "begins at the first checkpoint",
    caughtBy: "checkpoints: of several the latest counts",
    breaks(store) {
      const known = new Set<string>();
      return writingInstead(store, ({ checkpoint, ...commit }) => {
        const isFirst = checkpoint !== undefined && !known.has(commit.incarnation);
        if (isFirst) known.add(commit.incarnation);
        return isFirst ? { ...commit, checkpoint } : commit;
      });
    },
  },
  {
    name: "gives nothing that came after the checkpoint",
    caughtBy: "checkpoints: load gives what the last one holds, and what came after it",
    breaks(store) {
      const last = new Map<string, HistoryCheckpoint>();
      const shown = showing(store, (snapshot) => {
        const { context } = last.get(snapshot.incarnation!) ?? snapshot;
        return { ...snapshot, context };
      });
      return altered(shown, {
        async commit(commit) {
          await store.commit(commit);
          if (commit.checkpoint) last.set(commit.incarnation, commit.checkpoint);
        },
      });
    },
  },
  {
    name: "keeps the checkpoint of a refused commit",
    caughtBy: "checkpoints: what a refused commit holds counts for nothing",
    breaks: keepingRefused,
  },
  {
    name: "gives heads as they were written",
    caughtBy: "checkpoints: large values that a head only refers to are read from the events",
    breaks: (store) =>
      altered(store, {
        async loadHead(workflowId) {
          const head = await store.loadHead(workflowId);
          return head && leanHead(head);
        },
      }),
  },
  {
    name: "shows checkpoints in the history",
    caughtBy: "checkpoints: are no part of the history, which stays whole",
    breaks(store) {
      const versions = new Set<string>();
      return altered(store, {
        async commit(commit) {
          await store.commit(commit);
          if (commit.checkpoint) versions.add(`${commit.workflowId} ${commit.head.version}`);
        },
        async events(workflowId, afterVersion, limit) {
          const rows = await store.events(workflowId, afterVersion, limit);
          return rows.flatMap((row) => (versions.has(`${workflowId} ${row.version}`) ? [row, row] : [row])).slice(0, limit);
        },
      });
    },
  },
];

function keepingRefused(store: SnapshotStore): SnapshotStore {
  const refused = new Map<string, HistoryCheckpoint>();
  const shown = showing(store, (snapshot) => ({ ...snapshot, context: refused.get(snapshot.incarnation!)?.context ?? snapshot.context }));
  return altered(shown, {
    async commit(commit) {
      try {
        await store.commit(commit);
      } catch (error) {
        if (StepfoldError.is(error, "VERSION_CONFLICT") && commit.checkpoint) refused.set(commit.incarnation, commit.checkpoint);
        throw error;
      }
    },
  });
}
