import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, present } from "../../expectations.ts";
import { claimedIds, longLeaseMs, shortLeaseMs } from "./claiming.ts";

const needs = { needs: "taskQueues" } as const;

/** What a process lacks that cannot run executions of the workflow `gone`. */
const lacks: ReadonlySet<string> = new Set(["hash-of-gone"]);
const ofGone = { definitionId: "gone" } as const;

/** What a store promises about task queues, and about executions that a process cannot run. */
export const partitionCases: readonly ContractCase[] = [
  {
    name: "task queue: a process that names some takes their executions and no others",
    ...needs,
    async run({ store }) {
      await fill(store, { plain: {}, gpu: { taskQueue: "gpu" }, mail: { taskQueue: "mail" }, named: { taskQueue: "default" } });
      equal(await claimedIds(store, { taskQueues: ["gpu", "none"] }), ["gpu"], "claimed of gpu");
      equal(await claimedIds(store, { taskQueues: ["default"] }), ["named", "plain"], "claimed of the default one");
      equal(await claimedIds(store, { taskQueues: [] }), [], "claimed of none");
      equal(await claimedIds(store), ["mail"], "claimed of all");
    },
  },
  {
    name: "task queue: an execution is not claimed by its id by a process that does not take it",
    ...needs,
    async run({ store }) {
      await fill(store, { plain: {}, gpu: { taskQueue: "gpu" } });
      equal(await claimedIds(store, { workflowId: "gpu", taskQueues: ["default"] }), [], "claim of gpu");
      equal(await claimedIds(store, { workflowId: "plain", taskQueues: ["gpu"] }), [], "claim of plain");
      equal(await claimedIds(store, { workflowId: "gpu", taskQueues: ["gpu"] }), ["gpu"], "claim of gpu by one that takes it");
      equal(await claimedIds(store, { workflowId: "plain" }), ["plain"], "claim of plain by one that takes all");
    },
  },
  {
    name: "task queue: executions of one concurrency key share its limit, whichever task queues they are in",
    ...needs,
    async run({ store }) {
      const permit = { key: "x", limit: 1 };
      await fill(store, { a: { taskQueue: "gpu", permit }, b: { permit }, c: { taskQueue: "mail" } });
      const first = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 50, taskQueues: ["gpu"] });
      equal(
        first.map(({ workflowId }) => workflowId),
        ["a"],
        "claimed of gpu",
      );
      equal(await claimedIds(store, { taskQueues: ["default"] }), [], "claimed of the default one while the other is held");
      equal(await claimedIds(store), ["c"], "claimed of all");
      await store.release(first[0]!, 0);
      equal(await claimedIds(store, { permit: "x", taskQueues: ["default"] }), ["b"], "claimed of the key");
    },
  },
  {
    name: "task queue: one that needs no permit at this moment is claimed without one only by a process that takes it",
    ...needs,
    async run({ store }) {
      const permit = { key: "x", limit: 1 };
      await fill(store, { held: { permit } });
      equal(await claimedIds(store), ["held"], "claimed of the key");
      for (const id of ["gpu-1", "gpu-2", "gpu-3", "plain"]) {
        const waiting = await create(store, id, { permit, ...(id !== "plain" && { taskQueue: "gpu" }) });
        await store.commit(stepCommit(waiting, { head: { outbox: [{ id: "0.0", to: "another", type: "ended" }] } }));
      }
      equal(await claimedIds(store, { taskQueues: ["default"], limit: 1 }), ["plain"], "claimed of the default one, behind the others");
      const others = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 50, taskQueues: ["gpu"] });
      equal(
        others.map(({ withoutPermit }) => withoutPermit),
        [true, true, true],
        "claimed of gpu",
      );
    },
  },
  {
    name: "lacks: what a process cannot run is left to others, which claim it",
    ...needs,
    async run({ store, open }) {
      await fill(store, { a: ofGone, b: {}, c: { ...ofGone, taskQueue: "gpu" } });
      equal(await claimedIds(store, { lacks }), ["b"], "claimed by one that lacks a definition");
      equal(await claimedIds(store, { lacks }), [], "claimed by it again");
      const other = store.features.multiProcess ? await open() : store;
      equal(await claimedIds(other, { lacks: new Set(["hash-of-other"]), taskQueues: ["default"] }), ["a"], "claimed by one that has it");
      equal(await claimedIds(other), ["c"], "claimed by one that has everything");
    },
  },
  {
    name: "lacks: an execution is not claimed by its id by a process that cannot run it",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ofGone });
      for (const time of ["first", "second"]) equal(await claimedIds(store, { lacks, workflowId: "a" }), [], `the ${time} claim`);
      equal(await claimedIds(store, { workflowId: "a" }), ["a"], "claimed by one that can");
    },
  },
  {
    name: "lacks: however many a process cannot run, those behind them are claimed at once, the longest due first",
    ...needs,
    async run({ store }) {
      await fill(store, Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`gone-${index}`, ofGone])));
      await fill(store, { a: {}, b: {}, c: {} });
      equal(await claimedIds(store, { lacks, limit: 2 }), ["a", "b"], "claimed with a limit of 2");
      equal(await claimedIds(store, { lacks, limit: 2 }), ["c"], "claimed next");
      equal((await claimedIds(store, { limit: 200 })).length, 150, "how many others get");
    },
  },
  {
    name: "lacks: one that a process cannot run holds up no other one of its concurrency key, and keeps to its limit",
    ...needs,
    async run({ store }) {
      const permit = { key: "x", limit: 1 };
      await fill(store, { a: { ...ofGone, permit }, b: { permit } });
      const [claim, ...others] = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 50, lacks });
      equal([present(claim, "a claim").workflowId, others.length], ["b", 0], "claimed by one that lacks a definition");
      equal(await claimedIds(store), [], "claimed by one that has everything, while the other is held");
      await store.release(claim!, 0);
      equal(await claimedIds(store, { limit: 1, workflowId: "a" }), ["a"], "claimed afterwards by its id");
      equal(await claimedIds(store), [], "claimed while that is held");
    },
  },
  {
    name: "lacks: one that waits for its rate is left to others, and counts for the rate",
    ...needs,
    async run({ store }) {
      const rate = { key: "x", limit: 1, periodMs: 3_600_000 };
      await fill(store, { a: { ...ofGone, rate } });
      equal(await claimedIds(store, { lacks }), [], "claimed by one that lacks a definition");
      equal(await claimedIds(store), ["a"], "claimed by one that has it");
      await fill(store, { b: { rate } });
      equal(await claimedIds(store), [], "the next one of its rate");
    },
  },
  {
    name: "lacks: one whose holder was lost is left to others when its lease has ended",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ofGone });
      equal(await claimedIds(store, { leaseMs: shortLeaseMs * 20 }), ["a"], "claimed");
      equal(await claimedIds(store, { lacks }), [], "claimed while it is held");
      await advance(shortLeaseMs * 20 + 1);
      equal(await claimedIds(store, { lacks }), [], "claimed by one that lacks its definition");
      const [claim] = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 1 });
      equal(present(claim, "a claim").expired, 1, "lost claims that the next holder is told of");
    },
  },
  {
    name: "lacks: a run that follows another definition is judged by that one",
    ...needs,
    async run({ store }) {
      const first = await create(store, "a", ofGone);
      equal(await claimedIds(store, { lacks }), [], "claimed by one that lacks the first definition");
      const [claim] = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 1 });
      const next = { definition: { id: "next", hash: "hash-of-next" }, run: { number: 2, since: 1, at: 1 } };
      await store.commit(stepCommit(first, { fence: present(claim, "a claim").fence, release: true, head: next }));
      equal(await claimedIds(store, { lacks: new Set(["hash-of-next"]) }), [], "claimed by one that lacks the next one");
      equal(await claimedIds(store, { lacks }), ["a"], "claimed by one that lacks the first one");
    },
  },
  {
    name: "lacks: one that was left to others goes on by commands and by its end, as every other one",
    ...needs,
    async run({ store }) {
      const first = await create(store, "a", ofGone);
      equal(await claimedIds(store, { lacks }), [], "claimed by one that lacks its definition");
      const second = stepCommit(first, { status: "paused", wakeAt: null });
      await store.commit(second);
      equal(await claimedIds(store), [], "claimed while it waits");
      const third = stepCommit(second, {});
      await store.commit(third);
      equal(await claimedIds(store, { lacks }), [], "claimed by one that lacks its definition, when it is due again");
      equal(await claimedIds(store, { limit: 1 }), ["a"], "claimed when it is due again");
      await store.commit(stepCommit(third, { status: "completed" }));
      equal(await claimedIds(store), [], "claimed after its end");
    },
  },
];

/** What distinguishes an execution of a case. */
type Given = Pick<Partial<Commit["head"]>, "taskQueue" | "permit" | "rate"> & { readonly definitionId?: string };

async function create(store: SnapshotStore, workflowId: string, { definitionId = "contract", ...head }: Given): Promise<Commit> {
  const commit = startCommit(workflowId, { definitionId, head });
  const { taskQueue: _, ...shared } = head;
  const [event, ...others] = commit.events;
  const first = { ...commit, events: [{ ...event!, ...shared } as Commit["events"][number], ...others] };
  await store.create(first);
  return first;
}

/** Creates executions, by their ids. */
async function fill(store: SnapshotStore, executions: Readonly<Record<string, Given>>): Promise<void> {
  for (const [id, given] of Object.entries(executions)) await create(store, id, given);
}
