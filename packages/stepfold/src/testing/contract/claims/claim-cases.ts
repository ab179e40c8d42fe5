import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs, longLeaseMs, shortLeaseMs } from "./claiming.ts";

/** What `claim` promises. */
export const claimCases: readonly ContractCase[] = [
  {
    name: "claim: says what was claimed, how large it is, and the store's time",
    async run({ store }) {
      const first = startCommit("a", { input: { n: 1 } });
      const second = stepCommit(first, { output: [1], head: { sizeBytes: 1_234 } });
      await store.create(first);
      await store.commit(second);
      const before = await store.now();
      const { claim, snapshot } = await claimFree(store, "a");
      equal(snapshot, snapshotAfter(first, second), "snapshot");
      equal(
        claim,
        {
          workflowId: "a",
          incarnation: first.incarnation,
          ...{ version: second.head.version, sizeBytes: second.head.sizeBytes },
          owner: "worker",
          leaseMs,
          ...{ fence: claim.fence, claimedAt: claim.claimedAt, expired: 0, crashes: 0 },
        },
        "claim",
      );
      holds(Number.isInteger(claim.claimedAt) && claim.claimedAt >= before, `claimedAt is ${claim.claimedAt}`);
    },
  },
  {
    name: "claim: what is held is not handed out again",
    async run({ store }) {
      await store.create(startCommit("a"));
      equal(await dueIds(store), ["a"], "first claim");
      equal(await dueIds(store), [], "second claim");
      equal(await store.claim({ owner: "poller", leaseMs, limit: 1, workflowId: "a" }), [], "claim by id, same owner");
    },
  },
  {
    name: "claim: what a lease held is handed out when it ended, not before",
    async run({ store, advance }) {
      await createClaimed(store, "a");
      await advance(Math.floor(leaseMs / 4));
      equal(await dueIds(store), [], "before");
      await advance(leaseMs);
      equal(await dueIds(store), ["a"], "after");
    },
  },
  {
    name: "claim: null is never due",
    async run({ store, advance }) {
      await store.create(startCommit("a", { status: "paused", wakeAt: null }));
      await advance(1000);
      equal(await dueIds(store), [], "due");
      equal(await store.claim({ owner: "worker", leaseMs, limit: 1, workflowId: "a" }), [], "claim by id");
    },
  },
  {
    name: "claim: a time in the future is due when it came, not before",
    async run({ store, advance }) {
      const now = await store.now();
      await store.create(startCommit("a", { status: "paused", wakeAt: now + 400 }));
      equal(await dueIds(store), [], "before");
      equal(await store.claim({ owner: "worker", leaseMs, limit: 1, workflowId: "a" }), [], "claim by id");
      await advance(400);
      equal(await dueIds(store), ["a"], "after");
    },
  },
  {
    name: "claim: a commit changes when it is due",
    async run({ store }) {
      const first = startCommit("a", { wakeAt: 0 });
      const second = stepCommit(first, { status: "paused", wakeAt: null });
      const third = stepCommit(second, { wakeAt: 0 });
      await store.create(first);
      await store.commit(second);
      equal(await dueIds(store), [], "paused");
      await store.commit(third);
      equal(await dueIds(store), ["a"], "woken");
    },
  },
  {
    name: "claim: longest due first",
    async run({ store }) {
      const now = await store.now();
      const wakes = { a: now - 10, b: now - 30, d: now - 20, e: now - 40 };
      for (const [id, wakeAt] of Object.entries(wakes)) await store.create(startCommit(id, { wakeAt }));
      equal(await dueIds(store), ["e", "b", "d", "a"], "order");
    },
  },
  ...[
    {
      what: "whose time has come is",
      prepare: async (store: SnapshotStore) =>
        void (await store.create(startCommit("patient", { status: "paused", wakeAt: (await store.now()) + shortLeaseMs }))),
    },
    { what: "that a lost process held is", prepare: (store: SnapshotStore) => createClaimed(store, "patient", shortLeaseMs) },
  ].map(
    ({ what, prepare }): ContractCase => ({
      name: `claim: one ${what} claimed however much is due at once`,
      async run({ store, advance }) {
        await prepare(store);
        await advance(shortLeaseMs + 1);
        const claimed: string[] = [];
        for (let round = 0; round < 10 && !claimed.includes("patient"); round++) {
          // Each round creates more executions than it claims.
          for (let count = 0; count < 4; count++) await store.create(startCommit(`now-${round}-${count}`));
          claimed.push(...(await dueIds(store, 2)));
        }
        holds(claimed.includes("patient"), `only others were claimed: ${claimed.join(", ")}`);
      },
    }),
  ),
  {
    name: "claim: of those due at the same time, the oldest first",
    async run({ store }) {
      const ids = ["m", "z", "a", "k", "b"];
      for (const id of ids) await store.create(startCommit(id));
      equal(await dueIds(store), ids, "order");
    },
  },
  {
    name: "claim: at most as many as asked for, and the rest to the next",
    async run({ store }) {
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await store.create(startCommit(id));
      equal(await dueIds(store, 2, longLeaseMs), ["a", "b"], "first");
      equal(await dueIds(store, 2, longLeaseMs), ["c", "d"], "second");
      equal(await dueIds(store, 2, longLeaseMs), ["e"], "third");
      equal(await dueIds(store, 2, longLeaseMs), [], "fourth");
      await store.create(startCommit("f"));
      equal(await dueIds(store, Number.POSITIVE_INFINITY, longLeaseMs), ["f"], "without a limit");
    },
  },
  {
    name: "claim: with an id, only that one",
    async run({ store }) {
      for (const id of ["a", "b", "c"]) await store.create(startCommit(id));
      const claimed = await store.claim({ owner: "worker", leaseMs, limit: 10, workflowId: "b" });
      equal(
        claimed.map(({ workflowId }) => workflowId),
        ["b"],
        "claimed",
      );
      equal(await store.claim({ owner: "worker", leaseMs, limit: 10, workflowId: "nobody" }), [], "claim of nobody");
      equal(await dueIds(store), ["a", "c"], "rest");
    },
  },
  {
    name: "claim: nothing due gives nothing",
    async run({ store }) {
      equal(await dueIds(store), [], "due");
    },
  },
  {
    name: "claim: of racing claims exactly one gets it",
    async run({ store }) {
      await store.create(startCommit("a"));
      const all = await Promise.all(Array.from({ length: 8 }, (_, index) => store.claim({ owner: `worker-${index}`, leaseMs, limit: 1 })));
      equal(all.filter((claimed) => claimed.length === 1).length, 1, "winners");
    },
  },
  {
    name: "claim: a commit of the holder does not lengthen the lease",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { fence: claim.fence, status: "paused", wakeAt: null }));
      await advance(leaseMs + 1);
      equal(await dueIds(store), ["a"], "due");
    },
  },
  {
    name: "claim: the list says when it wakes, whoever holds it",
    async run({ store }) {
      const first = startCommit("a", { status: "paused", wakeAt: 5 });
      await store.create(first);
      await claimFree(store, "a");
      equal(
        (await store.list()).items.map(({ wakeAt }) => wakeAt),
        [5],
        "wakeAt",
      );
    },
  },
];
