import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { DeletedExecution, PruneOptions } from "../../../ports/store-removal.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, rejectsWith } from "../../expectations.ts";

const always = Number.MAX_SAFE_INTEGER;
const statuses: readonly Status[] = ["active", "paused", "error", "completed", "failed", "cancelled"];

/** What `prune` promises. */
export const pruneCases: readonly ContractCase[] = [
  {
    name: "prune: deletes what has ended, and nothing else",
    async run({ store }) {
      for (const status of statuses) await store.create(startCommit(status, { status }));
      equal(await counted(store, { before: always }), { executions: 3, events: 3 }, "report");
      equal(await idsOf(store), ["active", "error", "paused"], "left");
      equal(await store.events("failed", -1, 10), [], "events");
      equal(await counted(store, { before: always }), { executions: 0, events: 0 }, "second report");
    },
  },
  {
    name: "prune: only what was last changed before",
    async run({ store, advance }) {
      const late = startCommit("late");
      await store.create(late);
      await store.create(startCommit("early", { status: "completed" }));
      await advance(10);
      const middle = await store.now();
      await advance(10);
      await store.commit(stepCommit(late, { status: "completed" }));
      equal(await counted(store, { before: middle }), { executions: 1, events: 1 }, "report");
      equal(await idsOf(store), ["late"], "left");
      equal(await counted(store, { before: always }), { executions: 1, events: 2 }, "report of all");
    },
  },
  {
    name: "prune: only the statuses asked for",
    async run({ store }) {
      for (const status of statuses) await store.create(startCommit(status, { status }));
      await store.prune({ before: always, statuses: ["failed", "cancelled"] });
      equal(await idsOf(store), ["active", "completed", "error", "paused"], "left");
      equal(await counted(store, { before: always, statuses: [] }), { executions: 0, events: 0 }, "none asked for");
    },
  },
  {
    name: "prune: at most the limit, least recently changed first",
    async run({ store, advance }) {
      for (const id of ["a", "b", "c", "d"]) {
        await store.create(startCommit(id));
        await advance(2);
      }
      for (const id of ["c", "a", "d", "b"]) {
        await store.commit(stepCommit((await store.load(id))!, { status: "completed" }));
        await advance(2);
      }
      equal(await counted(store, { before: always, limit: 2 }), { executions: 2, events: 4 }, "report");
      equal(await idsOf(store), ["b", "d"], "left");
    },
  },
  {
    name: "prune: of one workflow definition, if asked so",
    async run({ store }) {
      await store.create(startCommit("a", { definitionId: "invoices", status: "completed" }));
      await store.create(startCommit("b", { definitionId: "reminders", status: "completed" }));
      await store.create(startCommit("c", { definitionId: "reminders" }));
      const options = { before: always, definitionId: "reminders" };
      equal(await counted(store, { ...options, dryRun: true }), { executions: 1, events: 1 }, "report of the dry run");
      equal(await counted(store, options), { executions: 1, events: 1 }, "report");
      equal(await idsOf(store), ["a", "c"], "left");
    },
  },
  {
    name: "prune: a dry run counts the same and deletes nothing",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      await store.commit(stepCommit(first, { outputs: [1, 2], status: "completed" }));
      await store.create(startCommit("b", { status: "failed" }));
      equal(await counted(store, { before: always, dryRun: true }), { executions: 2, events: 4 }, "report");
      equal(await counted(store, { before: always, dryRun: true, limit: 1 }), { executions: 1, events: 3 }, "report with a limit");
      equal(await idsOf(store), ["a", "b"], "left");
      equal(await counted(store, { before: always }), { executions: 2, events: 4 }, "report of the real one");
    },
  },
  {
    name: "prune: names what it deletes, or would delete",
    async run({ store }) {
      for (const id of ["a", "b"]) await store.create(startCommit(id, { incarnation: `${id}-1`, status: "completed" }));
      const expected = ["a", "b"].map((id) => ({ workflowId: id, incarnation: `${id}-1` }));
      for (const dryRun of [true, false])
        equal((await store.prune({ before: always, dryRun })).deleted.toSorted(byId), expected, "deleted");
      equal((await store.prune({ before: always })).deleted, [], "nothing is left to delete");
    },
  },
  {
    name: "prune: removes no more tombstones at once than its limit",
    async run({ store, advance, retentionMs }) {
      const ids = ["a", "b", "c"];
      for (const id of ids) await store.create(startCommit(id, { status: "completed" }));
      await store.prune({ before: always });
      await advance(retentionMs + 1);
      await store.prune({ before: always, limit: 2 });
      await store.prune({ before: always, limit: 2 });
      for (const id of ids) await store.create(startCommit(id));
      equal(await idsOf(store), ids, "ids");
    },
  },
  {
    name: "prune: ids stay taken for the retention, then they are free",
    async run({ store, advance, retentionMs }) {
      await store.create(startCommit("a", { status: "completed" }));
      await store.prune({ before: always });
      await store.prune({ before: always });
      await rejectsWith("WORKFLOW_EXISTS", () => store.create(startCommit("a")));
      await advance(retentionMs + 1);
      await store.prune({ before: always });
      await store.create(startCommit("a"));
      equal(await idsOf(store), ["a"], "ids");
    },
  },
  {
    name: "prune: what is of another form is refused, and nothing is deleted",
    async run({ store }) {
      await store.create(startCommit("a", { status: "completed" }));
      const wrong: Readonly<Record<string, readonly unknown[]>> = {
        before: ["2020-01-01", Number.NaN, Number.POSITIVE_INFINITY, null, {}, undefined],
        definitionId: [{}, ["d"], 7],
        statuses: ["completed", ["active"], {}],
        dryRun: ["false", 0],
        olderThan: ["30d"],
      };
      for (const [option, values] of Object.entries(wrong)) {
        for (const value of values) {
          const details = await rejectsWith("OPTION_INVALID", () => store.prune({ before: always, [option]: value } as never));
          equal(details.option, option, `option for ${JSON.stringify(value)}`);
        }
      }
      equal(await idsOf(store), ["a"], "ids");
    },
  },
  {
    name: "prune: a limit out of range is refused",
    async run({ store }) {
      for (const limit of [0, -1, 1.5]) await rejectsWith("OPTION_INVALID", () => store.prune({ before: always, limit }));
    },
  },
];

/** Prunes, and returns the report without the names. */
async function counted(store: SnapshotStore, options: PruneOptions): Promise<{ readonly executions: number; readonly events: number }> {
  const { executions, events } = await store.prune(options);
  return { executions, events };
}

function byId(one: DeletedExecution, other: DeletedExecution): number {
  return one.workflowId < other.workflowId ? -1 : 1;
}

async function idsOf(store: SnapshotStore): Promise<string[]> {
  return (await store.list({ limit: 1000 })).items.map(({ workflowId }) => workflowId).sort();
}
