import { describe, expect, it } from "vitest";
import type { ClaimOptions, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { startCommit } from "../../../src/testing/index.ts";

/** A store that counts what it asks its database: statements, commands or requests, or the calls of a table in memory. */
export interface CountingStore {
  readonly store: SnapshotStore;
  /** How often it has asked so far. */
  readonly asked: () => number;
}

/** What is measured of a store. */
export interface Measured {
  readonly open: () => Promise<CountingStore>;
  /** How many executions a process lacks. Default: 10,000. */
  readonly count?: number;
  /** The most that is asked for each hundred of these, to move them out of the way: to find them, to read their heads, to write them. */
  readonly perHundred: number;
}

/** How many executions are looked at together. */
const together = 100;
/** How many one claim moves, if so many are there. */
const perClaim = 2_000;
/** How many other executions are due behind those that a process lacks. */
const others = 100;
const lacks: ReadonlySet<string> = new Set(["hash-of-gone"]);
const lease = { owner: "worker", leaseMs: 600_000 };

type Head = Partial<Commit["head"]>;

/** Creates executions `DEFINITION-0`, `DEFINITION-1` and so on, each with its own time. */
async function fill(store: SnapshotStore, definitionId: string, count: number, head: Head = {}): Promise<void> {
  const { permit, taskQueue } = head;
  for (let done = 0; done < count; done += 200) {
    const ids = Array.from({ length: Math.min(200, count - done) }, (_, index) => `${definitionId}-${done + index}`);
    const firsts = ids.map((id) => startCommit(id, { definitionId, head: { ...(permit && { permit }), ...(taskQueue && { taskQueue }) } }));
    await Promise.all(firsts.map((first) => store.create(first)));
  }
}

async function claimed(store: SnapshotStore, limit: number, more: Partial<ClaimOptions> = { lacks }): Promise<string[]> {
  return (await store.claim({ ...lease, limit, ...more })).map(({ workflowId }) => workflowId);
}

/** Claims `limit` executions, and again as long as there is room and a claim says that there is more. Returns their ids, and how many claims. */
async function claimedToTheEnd(store: SnapshotStore, limit: number, more: Partial<ClaimOptions> = { lacks }) {
  const ids: string[] = [];
  let claims = 0;
  for (let isMore = true; isMore && ids.length < limit; claims++) {
    isMore = false;
    const onMore = (): void => {
      isMore = true;
    };
    ids.push(...(await claimed(store, limit - ids.length, { ...more, onMore })));
  }
  return { ids, claims };
}

/** Expects that each claim has moved as many as it may, and that the last one has moved the rest. */
function expectBounded(claims: number, lacking: number): void {
  const least = Math.max(1, Math.ceil(lacking / perClaim));
  // if the last one has moved as many as it may too, one more claim may be needed for the others
  expect([least, least + 1]).toContain(claims);
}

/** What claims ask of a store in which a process lacks `count` executions that are due before all others. */
async function costsWith(count: number, { store, asked }: CountingStore) {
  const costOf = async (limit: number, definitionId: string, expected: number, lacking = 0): Promise<number> => {
    const before = asked();
    const { ids, claims } = await claimedToTheEnd(store, limit);
    expect([ids.length, ids.filter((id) => !id.startsWith(definitionId))], `of ${definitionId}`).toEqual([expected, []]);
    expectBounded(claims, lacking);
    return asked() - before;
  };
  await fill(store, "gone", count);
  await fill(store, "other", others);
  // before the process knows what it lacks, one claim gives it what is due first
  const given = await store.claim({ ...lease, limit: 10 });
  expect(given.filter(({ workflowId }) => !workflowId.startsWith("gone"))).toEqual([]);
  for (const claim of given) await store.release(claim, claim.version);
  const first = await costOf(10, "other", 10, count);
  for (let left = others - 10; left > 0; left -= 30) await costOf(30, "other", 30);
  await fill(store, "later", 10);
  const later = await costOf(10, "later", 10);
  const idle = await costOf(10, "none", 0);
  expect(await claimed(store, 50, {})).toHaveLength(50);
  await store.close();
  return { first, later, idle };
}

/** Tests what executions cost that a process lacks and that are due before all others. */
export function manyLacking(name: string, { open, count = 10_000, perHundred }: Measured): void {
  const few = 2 * together;
  it(`${name}: the first claims move ${count} out of the way, at most ${perClaim} each, and no later one meets them`, {
    timeout: 120_000,
  }, async () => {
    const cost = await costsWith(count, await open());
    // each claim begins with as few as are wanted, and ends with the rest of what it may move
    const claims = Math.ceil(count / perClaim) + 1;
    expect(cost.first).toBeLessThanOrEqual((count / together + 2 * claims) * perHundred);
    const costOfFew = await costsWith(few, await open());
    expect({ later: cost.later, idle: cost.idle }).toEqual({ later: costOfFew.later, idle: costOfFew.idle });
  });
}

/** Tests the same in one partition: of a task queue, or of a concurrency key. */
export function manyLackingOfOne(name: string, open: () => Promise<CountingStore>, count = 10_000): void {
  const partitions: readonly [string, Head, Partial<ClaimOptions>][] = [
    ["task queue", { taskQueue: "gpu" }, { lacks, taskQueues: ["gpu"] }],
    ["concurrency key", { permit: { key: "x", limit: 1_000 } }, { lacks }],
  ];
  describe(`${name}, of one partition`, () => {
    it.each(partitions)(
      "a %s: each claim moves a bounded number, until the others come",
      { timeout: 120_000 },
      async (_, head, options) => {
        const { store } = await open();
        await fill(store, "gone", count, head);
        await fill(store, "other", others, head);
        const { ids, claims } = await claimedToTheEnd(store, others, options);
        expect([ids.length, ids.filter((id) => !id.startsWith("other"))]).toEqual([others, []]);
        expectBounded(claims, count);
        await store.close();
      },
    );
  });
}
