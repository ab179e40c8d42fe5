import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { claimedIds, claimFree, createClaimed, longLeaseMs } from "../claims/claiming.ts";
import { reopening } from "./runs.ts";

const always = Number.MAX_SAFE_INTEGER;

/** What a store promises about commits that open an ended execution again. */
export const reopenCases: readonly ContractCase[] = [
  {
    name: "reopen: an ended execution goes on under its history, and can be claimed",
    async run({ store }) {
      for (const status of ["failed", "cancelled", "completed"] as const) {
        const first = startCommit(status, { input: "given", metadata: { team: "red" } });
        const end = stepCommit(first, { output: "first", status });
        const again = reopening(end);
        await store.create(first);
        await store.commit(end);
        equal(await claimedIds(store), [], "claimed after the end");
        await store.commit(again);
        equal(await store.load(status), snapshotAfter(first, end, again), "snapshot");
        equal((await store.events(status, -1, 10)).length, 3, "events");
        const [listed] = (await store.list({ status: ["active"] })).items;
        equal([listed?.workflowId, listed?.wakeAt], [status, 0], "listed");
        const { claim, snapshot } = await claimFree(store, status);
        const last = stepCommit(snapshot, { fence: claim.fence, status: "completed" });
        await store.commit(last);
        await rejectsWith("EXECUTION_ENDED", () => store.commit(stepCommit(last)));
        await store.delete(status);
      }
    },
  },
  {
    name: "reopen: an open execution is refused, as is an older version, another incarnation or an unknown id",
    async run({ store }) {
      const first = startCommit("a");
      const end = stepCommit(first, { status: "failed" });
      await store.create(first);
      await rejectsWith("EXECUTION_OPEN", () => store.commit(reopening(first)));
      await store.commit(end);
      await rejectsWith("VERSION_CONFLICT", () => store.commit(reopening(first)));
      await rejectsWith("VERSION_CONFLICT", () => store.commit({ ...reopening(end), incarnation: "another" }));
      await rejectsWith("VERSION_CONFLICT", () => store.commit({ ...reopening(end), workflowId: "b" }));
      equal(await store.load("a"), snapshotAfter(first, end), "snapshot");
      await store.commit(reopening(end));
      const other = reopening(end);
      await rejectsWith("VERSION_CONFLICT", () => store.commit(other));
      await rejectsWith("EXECUTION_OPEN", () => store.commit(reopening(other)));
    },
  },
  {
    name: "reopen: the same commit again is acknowledged, also after the execution went on or has ended again",
    async run({ store }) {
      const first = startCommit("a");
      const end = stepCommit(first, { status: "failed" });
      const again = reopening(end);
      const later = stepCommit(again, { output: "later" });
      const last = stepCommit(later, { status: "failed" });
      await store.create(first);
      for (const commit of [end, again, again, later, again, last, again]) await store.commit(commit);
      equal(await store.load("a"), snapshotAfter(first, end, again, later, last), "snapshot");
      equal((await store.events("a", -1, 10)).length, 5, "events");
    },
  },
  {
    name: "reopen: a claim that ended with the execution is not counted as lost",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a", longLeaseMs);
      await store.renew(claim);
      const end = stepCommit(first, { status: "cancelled" });
      await store.commit(end);
      await store.commit(reopening(end));
      const again = await claimFree(store, "a");
      equal([again.claim.expired, again.claim.crashes], [0, 0], "expired and crashes");
    },
  },
  racing("one handle", {}),
  racing("several handles", { needs: "multiProcess" }),
  {
    name: "reopen: the execution is due when the commit says so",
    async run({ store, advance }) {
      const now = await store.now();
      for (const [id, inMs] of Object.entries({ soon: 20, later: 3_600_000 })) {
        const first = startCommit(id, { status: "cancelled" });
        await store.create(first);
        await store.commit(reopening(first, { status: "paused", wakeAt: now + inMs }));
      }
      await advance(50);
      equal(await claimedIds(store), ["soon"], "claimed");
    },
  },
  {
    name: "reopen: lists find the execution by its status and its waits",
    async run({ store }) {
      const waits = [{ kind: "signal", nodeId: "payment", signal: "paid" }] as const;
      const path = { id: "0", nodeId: "payment", turn: 1, visit: 0, attempts: 0, since: 1, stepPath: [], status: "suspended" } as const;
      const head = { activePaths: [{ ...path, waits: [{ id: "0@1", kind: "signal", signal: "paid" }] }] } as const;
      const first = startCommit("a", { status: "paused", waits, head });
      const end = stepCommit(first, { status: "failed", waits: [] });
      await store.create(first);
      await store.commit(end);
      equal(await idsOf(store, { waiting: {} }), [], "waiting after the end");
      await store.commit(reopening(end, { status: "paused", waits, head }));
      equal(await idsOf(store, { waiting: { signal: "paid" } }), ["a"], "waiting");
      equal(await idsOf(store, { status: ["failed"] }), [], "failed");
      equal(await idsOf(store, { status: ["paused"] }), ["a"], "paused");
    },
  },
  {
    name: "reopen: an open execution is neither pruned nor deleted, and its next end counts",
    async run({ store, advance }) {
      const first = startCommit("a", { status: "failed" });
      await store.create(first);
      await advance(10);
      const again = reopening(first);
      await store.commit(again);
      equal((await store.prune({ before: always })).executions, 0, "pruned while open");
      await rejectsWith("EXECUTION_OPEN", () => store.delete("a"));
      await advance(10);
      const middle = await store.now();
      await advance(10);
      await store.commit(stepCommit(again, { status: "failed" }));
      equal((await store.prune({ before: middle })).executions, 0, "pruned by its first end");
      const { executions, events } = await store.prune({ before: always });
      equal([executions, events], [1, 3], "pruned by its last end");
    },
  },
  {
    name: "reopen: a series counts an execution once, at its last end",
    needs: "lists",
    async run({ store, advance }) {
      const begun = await store.now();
      const first = startCommit("a", { status: "failed" });
      await store.create(first);
      await advance(10);
      const again = reopening(first);
      await store.commit(again);
      equal(await endedIn(store, begun, (await store.now()) + 1), 0, "ended while open");
      const middle = await store.now();
      await advance(10);
      await store.commit(stepCommit(again, { status: "completed" }));
      await advance(1);
      equal(await endedIn(store, begun, middle), 0, "ended before");
      equal(await endedIn(store, begun, (await store.now()) + 1), 1, "ended");
    },
  },
  {
    name: "reopen: an execution with a permit needs it again",
    needs: "permits",
    async run({ store }) {
      const permit = { key: "x", limit: 1 };
      const ended = startCommit("a", { head: { permit }, status: "failed" });
      await store.create(ended);
      await store.create(startCommit("b", { head: { permit } }));
      const { claim, snapshot } = await claimFree(store, "b", "worker", longLeaseMs);
      await store.commit(reopening(ended));
      equal(await claimedIds(store), [], "claimed while the other one has the permit");
      await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
      equal(await claimedIds(store), ["a"], "claimed");
    },
  },
  {
    name: "reopen: against a prune and a delete, the execution is either deleted or open",
    async run({ store }) {
      for (let round = 0; round < 12; round++) {
        const first = startCommit(`a${round}`, { status: "failed" });
        const again = reopening(first);
        await store.create(first);
        const remove = (): Promise<unknown> => (round % 2 === 0 ? store.prune({ before: always }) : store.delete(first.workflowId));
        const work = [() => store.commit(again), remove];
        if (round % 4 > 1) work.reverse();
        const settled = await Promise.allSettled(work.map((one) => one()));
        const isOpened = settled[round % 4 > 1 ? 1 : 0]!.status === "fulfilled";
        const stored = await store.load(first.workflowId);
        equal(stored, isOpened ? snapshotAfter(first, again) : null, `round ${round}`);
        if (!isOpened) await rejectsWith("VERSION_CONFLICT", () => store.commit(again));
      }
    },
  },
  {
    name: "reuse: a creation may take the id of a deleted execution before the retention is over",
    async run({ store }) {
      const first = startCommit("a", { status: "completed" });
      await store.create(first);
      const reusing = { ...startCommit("a", { input: "second" }), reusesId: true } as const;
      await rejectsWith("WORKFLOW_EXISTS", () => store.create(reusing));
      await store.delete("a");
      await rejectsWith("WORKFLOW_EXISTS", () => store.create(startCommit("a")));
      await store.create(reusing);
      await store.create(reusing);
      await rejectsWith("WORKFLOW_EXISTS", () => store.create({ ...startCommit("a"), reusesId: true }));
      equal(present(await store.load("a"), "snapshot").input, "second", "input");
      equal((await store.events("a", -1, 10)).length, 1, "events");
      await rejectsWith("VERSION_CONFLICT", () => store.commit(reopening(first)));
    },
  },
];

/** The case in which many callers open one execution at the same time. */
function racing(handles: string, needs: Pick<ContractCase, "needs">): ContractCase {
  return {
    name: `reopen: of 20 at once exactly one wins (${handles})`,
    ...needs,
    async run({ store, open }) {
      const other = needs.needs ? await open() : store;
      const first = startCommit("a", { status: "failed" });
      await store.create(first);
      const commits = Array.from({ length: 20 }, () => reopening(first));
      const settled = await Promise.allSettled(commits.map((commit, index) => (index % 2 ? store : other).commit(commit)));
      const won = commits.filter((_, index) => settled[index]!.status === "fulfilled");
      equal(won.length, 1, "winners");
      equal(
        (await store.events("a", 0, 10)).map(({ commitId }) => commitId),
        [won[0]!.commitId],
        "commits",
      );
      for (const one of settled) {
        if (one.status === "rejected") await rejectsWith("VERSION_CONFLICT", () => Promise.reject(one.reason));
      }
      if (other !== store) await other.close();
      holds(present(await store.load("a"), "snapshot").status === "active", "the execution is open");
    },
  };
}

async function idsOf(store: SnapshotStore, query: Parameters<SnapshotStore["list"]>[0]): Promise<string[]> {
  return (await store.list(query)).items.map(({ workflowId }) => workflowId);
}

async function endedIn(store: SnapshotStore, from: number, to: number): Promise<number> {
  const { buckets } = await store.ended!({ from, to, buckets: 1 });
  return buckets.flatMap(({ durations }) => Object.values(durations).flat()).reduce((sum, count) => sum + count, 0);
}
