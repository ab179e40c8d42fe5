import type { Rate } from "../../../core/values/shared-keys.ts";
import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present } from "../../expectations.ts";
import { claimedIds, longLeaseMs, shortLeaseMs } from "./claiming.ts";

const needs = { needs: "permits" } as const;

const hourMs = 3_600_000;

/** A period that is short enough to wait for. */
const periodMs = 1_000;

/** By how much a period is longer if the store uses the clocks of its callers. */
const skewOf = ({ features }: SnapshotStore): number => (features.clock === "caller" ? 1_000 : 0);

/** What a store promises about rates. */
export const rateCases: readonly ContractCase[] = [
  {
    name: "rate: no more of one key are claimed for the first time in a period; other keys and those without one are",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ["x", 1], b: ["x", 1], c: ["y", 2], d: ["y", 2], e: ["y", 2], f: null });
      equal(await claimedIds(store), ["a", "c", "d", "f"], "claimed");
      equal(await claimedIds(store), [], "claimed again");
      for (const id of ["b", "e"]) equal(await claimedIds(store, { workflowId: id }), [], `claim of ${id} by id`);
    },
  },
  {
    name: "rate: a new execution with one is not claimed with its creation",
    ...needs,
    async run({ store }) {
      const commit = rated("a", ["x", 1]);
      const lease = { claim: { owner: "worker", leaseMs: longLeaseMs } };
      equal(await store.create(commit, lease), null, "claim of create");
      equal(await store.create(commit, lease), null, "claim of create, repeated");
      equal(await claimedIds(store), ["a"], "claimed");
    },
  },
  {
    name: "rate: the window slides: a period after each first claim there is room for one",
    ...needs,
    async run({ store, advance }) {
      const spanMs = periodMs + skewOf(store);
      await fill(store, { a: ["x", 2, periodMs], b: ["x", 2, periodMs], c: ["x", 2, periodMs], d: ["x", 2, periodMs] });
      const first = await claimFirst(store, "a");
      await advance(Math.floor(spanMs / 2));
      const second = await claimFirst(store, "b");
      const refusedAt: number[] = [];
      const third = present(await nextClaim(store, advance, 3 * spanMs, refusedAt), "a third claim");
      const fourth = present(await nextClaim(store, advance, 3 * spanMs), "a fourth claim");
      const starts = [first, second, third, fourth].map(({ claimedAt }) => claimedAt);
      holds(starts[2]! - starts[0]! >= spanMs && starts[3]! - starts[1]! >= spanMs, `claimed for the first time at ${starts.join(", ")}`);
      // A third claim that waits for the second one is refused until a period after that. The time when it was granted does not count:
      // between two slow calls, time passes in which nobody asks for it.
      const isRefused = refusedAt.some((at) => at >= starts[1]! + spanMs - periodMs / 8);
      holds(!isRefused, `the third waited for the second: ${starts.join(", ")}, and was asked for at ${refusedAt.join(", ")}`);
    },
  },
  {
    name: "rate: those that came first come first",
    ...needs,
    async run({ store, advance }) {
      for (const id of ["c", "a", "d", "b"]) await create(store, id, ["x", 1, periodMs]);
      const order: string[] = [];
      for (let index = 0; index < 4; index++) {
        order.push(present(await nextClaim(store, advance, 4 * (periodMs + skewOf(store))), "a claim").workflowId);
      }
      equal(order, ["c", "a", "d", "b"], "order");
    },
  },
  {
    name: "rate: later claims are free, and wait for none of those that wait for their first one",
    ...needs,
    async run({ store }) {
      const first = await create(store, "a", ["x", 1]);
      const claim = await claimFirst(store, "a");
      for (let index = 0; index < 40; index++) await create(store, `waits-${index}`, ["x", 1]);
      await store.commit(stepCommit(first, { fence: claim.fence, release: true }));
      equal(await claimedIds(store), ["a"], "claimed after it was given back");
    },
  },
  {
    name: "rate: a first claim that never began has counted, and the next one of its execution is free",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1], b: ["x", 1] });
      await claimFirst(store, "a", shortLeaseMs);
      await advance(shortLeaseMs + 1);
      const [again, ...others] = await store.claim({ owner: "other", leaseMs: longLeaseMs, limit: 10 });
      equal([again?.workflowId, again?.expired, others.length], ["a", 1, 0], "claimed when the lease had ended");
    },
  },
  {
    name: "rate: one that waits stays in its place when somebody commits to it, and an end takes it away",
    ...needs,
    async run({ store }) {
      const first = await create(store, "a", ["x", 1]);
      const second = await create(store, "b", ["x", 1]);
      await create(store, "c", ["x", 1]);
      await claimFirst(store, "a");
      equal(await claimedIds(store), [], "claimed before");
      await store.commit(stepCommit(second));
      equal(await claimedIds(store), [], "claimed after a commit");
      await store.commit(stepCommit(first, { status: "cancelled" }));
      equal(await claimedIds(store), [], "claimed after the end of one that had counted");
      await store.delete("a");
      equal(await claimedIds(store, { workflowId: "c" }), [], "claimed after its deletion");
    },
  },
  {
    name: "rate: a deadline that passes in the line makes one due, which counts for nothing",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1] });
      const at = (await claimFirst(store, "a")).claimedAt;
      await create(store, "b", ["x", 1], { deadlineAt: at + periodMs });
      await create(store, "c", ["x", 1]);
      const ended = present(await nextClaim(store, advance, hourMs / 2), "a claim of the one whose deadline has passed");
      equal(ended.workflowId, "b", "whose deadline has passed");
      holds(ended.claimedAt >= at + periodMs, `claimed ${ended.claimedAt - at} ms after the first one`);
      equal(await claimedIds(store), [], "claimed afterwards");
      await create(store, "d", ["x", 2]);
      equal(await claimedIds(store, { workflowId: "d" }), ["d"], "one with a limit of 2");
    },
  },
  {
    name: "rate: one that only has to tell its end is claimed by its id at once, and counts for nothing",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ["x", 1] });
      const waiting = await create(store, "b", ["x", 1]);
      await claimFirst(store, "a");
      equal(await claimedIds(store), [], "claimed before");
      await store.commit(stepCommit(waiting, { head: { currentNodeId: null, activePaths: [] } }));
      equal(await claimedIds(store, { workflowId: "b" }), ["b"], "claimed by its id");
      await create(store, "c", ["x", 2]);
      equal(await claimedIds(store, { workflowId: "c" }), ["c"], "the next one, with a limit of 2");
    },
  },
  {
    name: "rate: one that waits is held by nobody",
    needs: "permits",
    async run({ store }) {
      await fill(store, { a: ["x", 1], b: ["x", 1] });
      await claimFirst(store, "a");
      equal(await claimedIds(store, { workflowId: "b" }), [], "claimed");
      const { items } = await store.list();
      const shown = items.map(({ workflowId, lease }) => [workflowId, lease?.owner ?? null]).sort();
      equal(shown, [["a", "worker"], ["b", null]], "holders"); // biome-ignore format: pairs
      equal(items.find(({ workflowId }) => workflowId === "b")?.version, 0, "version");
    },
  },
  {
    name: "rate: of different limits each execution goes by its own",
    ...needs,
    async run({ store }) {
      await fill(store, { a: ["x", 3], b: ["x", 1], c: ["x", 2], d: ["x", 2] });
      equal(await claimedIds(store, { workflowId: "a" }), ["a"], "the first");
      equal(await claimedIds(store, { workflowId: "b" }), [], "limit 1, after one");
    },
  },
  ...currentRates(),
  {
    name: "rate: a permit is needed too, and neither counts for the other",
    ...needs,
    async run({ store }) {
      // The rate and the permit have the same key.
      await create(store, "a", ["x", 2], { permit: { key: "x", limit: 1 } });
      await create(store, "b", ["x", 2], { permit: { key: "x", limit: 1 } });
      await create(store, "c", ["x", 2]);
      await create(store, "d", ["x", 2]);
      const [first] = await claimedIds(store, { workflowId: "a" });
      equal([first, await claimedIds(store, { workflowId: "b" })], ["a", []], "with one permit");
      equal(await claimedIds(store), ["c"], "without one");
    },
  },
  {
    name: "rate: a claim takes no more than it asks for, and no fewer, where some of a rate need a permit too",
    ...needs,
    async run({ store }) {
      for (const [index, key] of ["k", "!"].entries()) {
        const ids = [0, 1, 2, 3, 4, 5].map((number) => `e${index}${number}`);
        // The last two have a permit key, which comes after or before those of rates.
        for (const id of ids) await create(store, id, [key, 6], /[45]$/.test(id) ? { permit: { key, limit: 2 } } : {});
        const claims: string[][] = [];
        for (let round = 0; round < 3; round++) claims.push(await claimedIds(store, { limit: 2 }));
        equal(
          claims.map(({ length }) => length),
          [2, 2, 2],
          "numbers of claims",
        );
        equal(claims.flat().sort(), ids, "claimed in all");
      }
    },
  },
  {
    name: "rate: what is not overdue is left, also one that waits for its first claim",
    ...needs,
    async run({ store, advance }) {
      await fill(store, { a: ["x", 1] });
      equal(await claimedIds(store, { overdueMs: 1_000 }), [], "at once");
      await advance(1_050);
      equal(await claimedIds(store, { overdueMs: 1_000 }), ["a"], "later");
    },
  },
  {
    name: "rate: keys are compared as they are",
    ...needs,
    async run({ store }) {
      const keys = ["x", "X", "x ", " x", "é", "e\u0301", '"', "%", "__proto__", "k".repeat(255), "k".repeat(254)];
      for (const [index, key] of keys.entries()) {
        await create(store, `first-${index}`, [key, 1]);
        await create(store, `second-${index}`, [key, 1]);
      }
      equal(await claimedIds(store, { limit: 100 }), keys.map((_, index) => `first-${index}`).sort(), "claimed");
      equal((await store.load("first-9"))?.rate, { key: "k".repeat(255), limit: 1, periodMs: hourMs }, "rate in the snapshot");
    },
  },
  {
    name: "rate: of 40 claims at once on 20 executions no more succeed than the limit in any period (one handle)",
    ...needs,
    run: ({ store, advance }) => race([store], advance),
  },
  {
    name: "rate: of 40 claims at once on 20 executions no more succeed than the limit in any period (several handles)",
    ...needs,
    async run({ store, open, advance }) {
      const others = [await open(), await open(), await open()];
      await race([store, ...others], advance);
      for (const other of others) if (other !== store) await other.close();
    },
  },
];

/** The cases in which a claim names the current rates of workflows. */
function currentRates(): ContractCase[] {
  const asked = (rate: { limit: number; periodMs: number } | null): Partial<ClaimOptions> => ({ rates: { contract: rate } });
  return [
    {
      name: "rate: a limit that is raised counts for those that wait already, before their time",
      ...needs,
      async run({ store }) {
        for (let index = 0; index < 5; index++) await create(store, `e${index}`, ["x", 1]);
        equal(await claimedIds(store), ["e0"], "limit 1");
        // A new execution is enough for the waiting ones to be examined again.
        await create(store, "e5", ["x", 1]);
        equal(await claimedIds(store, asked({ limit: 4, periodMs: hourMs })), ["e1", "e2", "e3"], "limit 4");
      },
    },
    {
      name: "rate: a limit that is lowered counts",
      ...needs,
      async run({ store }) {
        await fill(store, { a: ["x", 3], b: ["x", 3], c: ["x", 3] });
        equal(await claimedIds(store, asked({ limit: 2, periodMs: hourMs })), ["a", "b"], "limit 2");
      },
    },
    {
      name: "rate: where the workflow has no limit any more, nothing waits",
      ...needs,
      async run({ store }) {
        await fill(store, { a: ["x", 1], b: ["x", 1], c: ["x", 1] });
        equal(await claimedIds(store, asked(null)), ["a", "b", "c"], "without a limit");
      },
    },
    {
      name: "rate: that of another workflow says nothing",
      ...needs,
      async run({ store }) {
        await fill(store, { a: ["x", 1], b: ["x", 1] });
        equal(await claimedIds(store, { rates: { other: null } }), ["a"], "claimed");
      },
    },
  ];
}

type Wanted = readonly [key: string, limit: number, periodMs?: number] | null;
type OtherFields = NonNullable<Parameters<typeof startCommit>[1]>["head"];

function rated(workflowId: string, wanted: Wanted, more: OtherFields = {}): Commit {
  if (!wanted) return startCommit(workflowId, { head: more });
  const [key, limit, inMs = hourMs] = wanted;
  const rate: Rate = { key, limit, periodMs: inMs };
  const commit = startCommit(workflowId, { head: { ...more, rate } });
  const [event, ...others] = commit.events;
  return { ...commit, events: [{ ...event!, rate } as Commit["events"][number], ...others] };
}

async function create(store: SnapshotStore, workflowId: string, wanted: Wanted, more?: OtherFields): Promise<Commit> {
  const commit = rated(workflowId, wanted, more);
  await store.create(commit);
  return commit;
}

async function fill(store: SnapshotStore, executions: Readonly<Record<string, Wanted>>): Promise<void> {
  for (const [id, wanted] of Object.entries(executions)) await create(store, id, wanted);
}

async function claimFirst(store: SnapshotStore, workflowId: string, leaseMs: number = longLeaseMs): Promise<Claim> {
  const [claim] = await store.claim({ owner: "worker", leaseMs, limit: 1, workflowId });
  return present(claim, `a claim on "${workflowId}"`);
}

/** Claims an execution as soon as there is one; undefined if there is none within `forMs`. */
async function nextClaim(
  store: SnapshotStore,
  advance: (ms: number) => Promise<void>,
  forMs: number,
  refusedAt: number[] = [],
): Promise<Claim | undefined> {
  const until = (await store.now()) + forMs;
  for (;;) {
    const askedAt = await store.now();
    const [claim] = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 1 });
    if (claim || askedAt > until) return claim;
    refusedAt.push(askedAt);
    await advance(20);
  }
}

/**
 * Makes many claims at once, again and again. No period may have more first
 * claims than allowed, and every execution must be claimed in the end.
 */
async function race(stores: readonly SnapshotStore[], advance: (ms: number) => Promise<void>): Promise<void> {
  const [store] = stores as [SnapshotStore];
  const limit = 5;
  const executions = 20;
  const spanMs = periodMs + skewOf(store);
  for (let index = 0; index < executions; index++) await create(store, `run-${index}`, ["x", limit, periodMs]);
  const begun: EpochOf[] = [];
  for (let round = 0; begun.length < executions; round++) {
    holds(round < 100, `after ${round} rounds only ${begun.length} of ${executions} were claimed`);
    const claims = Array.from({ length: 40 }, (_, index) => {
      const options = { owner: `racer-${index}`, leaseMs: longLeaseMs, limit: 1 + (index % 2) };
      return stores[index % stores.length]!.claim(index % 3 === 0 ? { ...options, workflowId: `run-${index % executions}` } : options);
    });
    begun.push(...(await Promise.all(claims)).flat().map(({ workflowId, claimedAt }) => ({ workflowId, claimedAt })));
    // Several rounds fall into each period, so that there are rounds with and without room.
    await advance(Math.ceil(spanMs / 8));
  }
  equal(new Set(begun.map(({ workflowId }) => workflowId)).size, executions, "executions claimed, each once");
  const times = begun.map(({ claimedAt }) => claimedAt).sort((a, b) => a - b);
  const early = times.findIndex((time, index) => index >= limit && time - times[index - limit]! < spanMs);
  holds(early < 0, `${limit + 1} executions were claimed for the first time within ${times[early]! - times[early - limit]!} ms`);
}

interface EpochOf {
  readonly workflowId: string;
  readonly claimedAt: number;
}
