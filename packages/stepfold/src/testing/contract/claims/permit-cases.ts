import type { Claim, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { claimAndLoad, type LoadedClaim } from "../../claim-and-load.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";
import { claimedIds, leaseMs, longLeaseMs, shortLeaseMs } from "./claiming.ts";
import { claimPermitted, create, fill, permitted } from "./permitted.ts";

const needs = { needs: "permits" } as const;

/** What a store promises about permits. */
export const permitCases: readonly ContractCase[] = [
  {
    name: "permit: no more of one key are claimed than its limit; other keys and those without one are",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ["x", 1], b: ["x", 1], c: ["y", 2], d: ["y", 2], e: ["y", 2], f: null });
      equal(await claimedIds(store), ["a", "c", "d", "f"], "claimed");
      equal(await claimedIds(store), [], "claimed again");
      for (const id of ["b", "e"]) equal(await claimedIds(store, { workflowId: id }), [], `claim of ${id} by id`);
    },
  },
  {
    name: "permit: of one key the longest due comes first, also one after the other",
    ...needs,
    async run({ store, advance }) {
      const now = await store.now();
      for (const [index, id] of ["c", "a", "b"].entries())
        await create(store, id, ["x", 1], { status: "paused", wakeAt: now + 10 + index });
      await advance(100);
      for (const id of ["c", "a", "b"]) {
        const [one, ...others] = await claimAndLoad(store, { owner: "worker", leaseMs: longLeaseMs, limit: 10 });
        equal([one?.claim.workflowId, others.length], [id, 0], "claimed");
        await store.commit(stepCommit(one!.snapshot, { fence: one!.claim.fence, status: "completed" }));
      }
    },
  },
  {
    name: "permit: a new execution with one is not claimed with its creation",
    ...needs,
    async run({ store }) {
      const commit = permitted("a", ["x", 1]);
      const lease = { claim: { owner: "worker", leaseMs } };
      equal(await store.create(commit, lease), null, "claim of create");
      equal(await store.create(commit, lease), null, "claim of create, repeated");
      equal(await claimedIds(store), ["a"], "claimed");
    },
  },
  ...endings(),
  {
    name: "permit: a renewal keeps it",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1], b: ["x", 1] });
      const { claim } = await claimPermitted(store, { leaseMs });
      for (let part = 0; part < 3; part++) {
        await advance(Math.floor(leaseMs * 0.6));
        await store.renew(claim);
      }
      equal(await claimedIds(store), [], "claimed meanwhile");
    },
  },
  {
    name: "permit: a claim whose lease ended is not renewed when others have its place",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1], b: ["x", 1] });
      const { claim } = await claimPermitted(store, { workflowId: "a", leaseMs: shortLeaseMs });
      await advance(shortLeaseMs + 1);
      await claimPermitted(store, { workflowId: "b" });
      await rejectsWith("FENCE_LOST", () => store.renew(claim));
      equal(await claimedIds(store), [], "claimed");
    },
  },
  {
    name: "permit: one whose lease ended is claimed again by its id at once",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1] });
      await claimPermitted(store, { workflowId: "a", leaseMs: shortLeaseMs });
      await advance(shortLeaseMs + 1);
      equal(await claimedIds(store, { workflowId: "a" }), ["a"], "claimed");
    },
  },
  {
    name: "permit: of different limits each execution goes by its own",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ["x", 3], b: ["x", 1], c: ["x", 2], d: ["x", 2] });
      equal(await claimedIds(store, { workflowId: "a" }), ["a"], "the first");
      equal(await claimedIds(store, { workflowId: "b" }), [], "limit 1, when one is held");
      equal(await claimedIds(store, { workflowId: "c" }), ["c"], "limit 2, when one is held");
      equal(await claimedIds(store, { workflowId: "d" }), [], "limit 2, when two are held");
    },
  },
  {
    name: "permit: those who wait for their turn hold up nobody",
    ...needs,
    async run({ store }) {
      for (let index = 0; index < 60; index++) await create(store, `blocked-${index}`, ["x", 1]);
      await claimPermitted(store, {});
      await create(store, "free", ["y", 1]);
      await store.create(startCommit("plain"));
      equal(await claimedIds(store, { limit: 2 }), ["free", "plain"], "claimed");
    },
  },
  {
    name: "permit: those with a key come to be claimed however much work there is without one",
    ...needs,
    async run({ store }) {
      await create(store, "patient", ["x", 1]);
      const claimed: string[] = [];
      for (let round = 0; round < 10 && !claimed.includes("patient"); round++) {
        // Each round creates more executions than it claims.
        for (let count = 0; count < 4; count++) await store.create(startCommit(`plain-${round}-${count}`));
        claimed.push(...(await claimedIds(store, { limit: 2 })));
      }
      holds(claimed.includes("patient"), `only others were claimed: ${claimed.join(", ")}`);
    },
  },
  {
    name: "permit: claims of one key give that key only",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ["x", 2], b: ["y", 2], c: null, d: ["x", 2], e: ["x", 2] });
      equal(await claimedIds(store, { permit: "x" }), ["a", "d"], "of x");
      equal(await claimedIds(store, { permit: "x" }), [], "of x, again");
      equal(await claimedIds(store, { permit: "z" }), [], "of a key that nobody has");
    },
  },
  {
    name: "permit: what is not overdue is left, also with a key",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1] });
      equal(await claimedIds(store, { overdueMs: 1_000 }), [], "at once");
      await advance(1_050);
      equal(await claimedIds(store, { overdueMs: 1_000 }), ["a"], "later");
    },
  },
  {
    name: "permit: keys are compared as they are",
    ...needs,
    async run({ store }) {
      const keys = [
        "x",
        "X",
        "x ",
        " x",
        "ß",
        "ss",
        "é",
        "e\u0301",
        "'",
        '"',
        "\\",
        "%",
        "_",
        "🙂",
        "__proto__",
        "k".repeat(255),
        "k".repeat(254),
      ];
      for (const [index, key] of keys.entries()) {
        await create(store, `first-${index}`, [key, 1]);
        await create(store, `second-${index}`, [key, 1]);
      }
      equal(await claimedIds(store, { limit: 100 }), keys.map((_, index) => `first-${index}`).sort(), "claimed");
      equal((await store.load("first-15"))?.permit, { key: "k".repeat(255), limit: 1 }, "permit in the snapshot");
    },
  },
  {
    name: "permit: of 40 claims at once on 20 executions no more succeed than the limit (one handle)",
    ...needs,
    run: ({ store }) => race([store]),
  },
  {
    name: "permit: of 40 claims at once on 20 executions no more succeed than the limit (several handles)",
    ...needs,
    async run({ store, open }) {
      const others = [await open(), await open(), await open()];
      await race([store, ...others]);
      for (const other of others) if (other !== store) await other.close();
    },
  },
];

/** The cases in which a claim ends: each ending frees the permit for the next execution. */
function endings(): ContractCase[] {
  const ways: Readonly<Record<string, (store: SnapshotStore, held: LoadedClaim, first: Commit) => Promise<unknown>>> = {
    "the claim was given back": (store, { claim }) => store.release(claim, 0),
    "it was given back with a commit": (store, { claim }, first) =>
      store.commit(stepCommit(first, { fence: claim.fence, status: "paused", release: true })),
    "the execution ended": (store, { claim }, first) => store.commit(stepCommit(first, { fence: claim.fence, status: "completed" })),
    "somebody else ended it": (store, _, first) => store.commit(stepCommit(first, { status: "cancelled" })),
  };
  const cases = Object.entries(ways).map(
    ([what, end]): ContractCase => ({
      name: `permit: the next may be claimed when ${what}`,
      ...needs,
      async run({ store }) {
        const first = await create(store, "a", ["x", 1]);
        await create(store, "b", ["x", 1]);
        const held = await claimPermitted(store, { workflowId: "a" });
        equal(await claimedIds(store), [], "claimed before");
        await end(store, held, first);
        equal(await claimedIds(store, { workflowId: "b" }), ["b"], "claimed after");
      },
    }),
  );
  const lost: ContractCase = {
    name: "permit: the next may be claimed when the lease ended, and whoever had it has to wait then",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1], b: ["x", 1] });
      await claimPermitted(store, { workflowId: "a", leaseMs: shortLeaseMs });
      await advance(shortLeaseMs + 1);
      await claimPermitted(store, { workflowId: "b" });
      equal(await claimedIds(store), [], "claimed");
    },
  };
  return [...cases, lost];
}

/**
 * Makes many claims at once, again and again. The limit of a key must
 * never be exceeded, and every execution must be claimed in the end.
 */
async function race(stores: readonly SnapshotStore[]): Promise<void> {
  const [store] = stores as [SnapshotStore];
  const limit = 3;
  const executions = 20;
  for (let index = 0; index < executions; index++) await create(store, `run-${index}`, ["x", limit]);
  const done = new Set<string>();
  for (let round = 0; done.size < executions; round++) {
    holds(round < 2 * executions, `after ${round} rounds only ${done.size} of ${executions} had their turn`);
    const asked = Array.from({ length: 40 }, (_, index) => {
      const options = { owner: `racer-${index}`, leaseMs: 60_000, limit: 1 + (index % 2) };
      return claimAndLoad(stores[index % stores.length]!, index % 3 === 0 ? { ...options, permit: "x" } : options);
    });
    const held = (await Promise.all(asked)).flat();
    holds(held.length <= limit, `${held.length} executions are claimed at once, with a limit of ${limit}`);
    holds(held.length > 0, "nobody was given a turn");
    await Promise.all(held.map(({ claim, snapshot }) => end(store, claim, snapshot)));
    for (const { claim } of held) {
      holds(!done.has(claim.workflowId), `${claim.workflowId} was claimed after it had ended`);
      done.add(claim.workflowId);
    }
  }
}

function end(store: SnapshotStore, claim: Claim, snapshot: LoadedClaim["snapshot"]): Promise<void> {
  return store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
}
