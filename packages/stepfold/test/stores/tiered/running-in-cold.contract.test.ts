import { describe, it } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { copyHead } from "../../../src/stores/wrappers/tiered/cold-copy.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import { isClaimed, type StoreBench, snapshotStoreContract } from "../../../src/testing/index.ts";
import { memoryBench } from "../../testing/memory-bench.fixture.ts";

/** A store in which every execution lives in the cold store from its first commit on, as if it had been moved then. */
function runningInCold(): StoreBench {
  const { store: cold, ...bench } = memoryBench();
  let time = 1_000_000;
  const store = tieredStore({ hot: memoryStore({ now: () => time }), cold, now: () => time });
  const create: SnapshotStore["create"] = async (commit, options) => {
    // the tiered store itself checks and refuses wrong options
    if (options?.claim && !(options.claim.leaseMs >= 1)) return store.create(commit, options);
    const claim = await cold.create({ ...commit, head: copyHead(commit.head, { createdAt: time, updatedAt: time }) }, options);
    return claim && { ...claim, fence: claim.fence + 2 ** 52 };
  };
  const advance = async (durationMs: number): Promise<void> => {
    time += durationMs;
    await bench.advance(durationMs);
  };
  const moved = { ...store, create };
  return { ...bench, store: moved, open: async () => moved, advance };
}

/**
 * Here one execution with a permit is back in the hot store, while another one with its key runs in the cold store. No move does that:
 * executions with a permit stay in the hot store until they end.
 */
const differs = "reopen: an execution with a permit needs it again";

describe("a tiered store whose executions live in the cold one", () => {
  for (const contractCase of snapshotStoreContract.filter(({ name }) => name !== differs)) {
    it(contractCase.name, async ({ skip }) => {
      const bench = runningInCold();
      if (!isClaimed(contractCase, bench)) skip(`not claimed: ${contractCase.needs}`);
      await contractCase.run(bench);
    });
  }
});
