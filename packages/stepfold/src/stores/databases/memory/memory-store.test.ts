import { describe, expect, it } from "vitest";
import { memoryBench } from "../../../../test/testing/memory-bench.fixture.ts";
import { claimAndLoad } from "../../../testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../testing/index.ts";
import { memoryStore } from "./index.ts";

describe("memoryStore", () => {
  it("has the semantics of a durable store, but says that it is none", () => {
    expect(memoryStore().features).toEqual({
      clock: "store",
      durable: false,
      multiProcess: false,
      permits: true,
      taskQueues: true,
      lists: true,
      definitions: true,
      keys: true,
    });
  });

  it("keeps the order of due times through many renewals and pauses", async () => {
    const { store, advance } = memoryBench();
    const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    for (const id of ids) await store.create(startCommit(id));
    for (let round = 0; round < 50; round++) {
      const claimed = await claimAndLoad(store, { owner: "worker", leaseMs: 1000, limit: 20 });
      expect(claimed.map(({ claim }) => claim.workflowId)).toEqual(ids);
      for (const { claim, snapshot } of claimed) {
        await store.renew(claim);
        await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "paused", wakeAt: 1_000_000 + round, release: true }));
        await store.commit(stepCommit((await store.load(claim.workflowId))!, { status: "active", wakeAt: 0 }));
      }
      await advance(10);
    }
  });
});
