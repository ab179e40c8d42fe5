import { describe, expect, it } from "vitest";
import { memoryBench } from "../../test/testing/memory-bench.fixture.ts";
import { startCommit, stepCommit } from "../testing/index.ts";
import { countExecutions, endedSeries, findSummaries } from "./list-fallbacks.ts";

/** A store with executions, and `plain`, which offers only the `list` of this store. */
async function stores() {
  const { store, advance } = memoryBench();
  for (let index = 0; index < 7; index++) await store.create(startCommit(`open-${index}`, { metadata: { even: index % 2 === 0 } }));
  for (const [index, status] of (["completed", "failed", "completed"] as const).entries()) {
    const first = startCommit(`done-${index}`, { definitionId: index === 0 ? "x" : "y" });
    await store.create(first);
    await advance(100);
    await store.commit(stepCommit(first, { status }));
  }
  const now = await store.now();
  return { store, now, plain: { list: (query?: Parameters<typeof store.list>[0]) => store.list(query) } };
}

describe("what lists are asked for where a store has nothing else", () => {
  it("counts as a store does that counts by itself", async () => {
    const { store, plain } = await stores();
    for (const query of [{}, { metadata: { even: true } }, { status: ["failed" as const] }]) {
      const { counts, capped, complete } = await countExecutions(plain, query);
      expect({ ...counts }).toEqual({ ...(await store.count!(query)).counts });
      expect({ capped, complete }).toEqual({ capped: false, complete: true });
    }
    expect(await countExecutions(plain, {}, 2)).toMatchObject({ counts: { active: 2, completed: 2, failed: 1 }, capped: true });
    expect(await countExecutions(plain, { status: ["active"] }, 2)).toMatchObject({ counts: { active: 2 }, complete: true });
    expect(await countExecutions(store)).toEqual(await store.count!());
  });

  it("says so when there is more than it looks at", async () => {
    const page = (await (await stores()).store.list({ limit: 1 })).items;
    const endless = { list: async () => ({ items: page, nextCursor: "on" }) };
    expect(await countExecutions(endless)).toMatchObject({ counts: { completed: 20 }, looked: 20, complete: false });
  });

  it("finds some, and what has ended", async () => {
    const { store, plain, now } = await stores();
    const ids = ["done-1", "nobody", "open-0"];
    const byId = (a: { workflowId: string }, b: { workflowId: string }) => (a.workflowId < b.workflowId ? -1 : 1);
    expect([...(await findSummaries(plain, ids))].sort(byId)).toEqual([...(await findSummaries(store, ids))].sort(byId));
    for (const query of [
      { from: now - 250, to: now + 1, buckets: 3 },
      { from: now - 250, to: now, buckets: 3, definitionId: "y" },
    ]) {
      expect((await endedSeries(plain, query)).buckets).toEqual((await endedSeries(store, query)).buckets);
    }
    const { buckets } = await endedSeries(plain, { from: now - 250, to: now + 1, buckets: 1 });
    expect(buckets[0]!.durations.completed[1]! + buckets[0]!.durations.failed[1]!).toBe(3);
  });
});
