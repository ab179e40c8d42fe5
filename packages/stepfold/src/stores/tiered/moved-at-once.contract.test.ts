import { describe, expect, it } from "vitest";
import { isClaimed, type StoreBench, snapshotStoreContract } from "../../testing/index.ts";
import { memoryBench } from "../../testing/memory-bench.fixture.ts";
import { memoryStore } from "../memory/index.ts";
import { type TieredStore, tieredStore } from "./index.ts";

/** What is not the same for what was moved; docs/stores/tiered.md says so. */
const differs: ReadonlySet<string> = new Set([
  // its claim is gone with it from the hot store
  "renew: tells that it was cancelled",
  // cold ones come after hot ones
  "list: filters together give what each of them gives",
  // in the cold store it was last changed when it was moved
  "prune: only what was last changed before",
]);

/** A store in which whatever ends is cold by the time its end is acknowledged. */
function movedAtOnce(): StoreBench {
  const bench = memoryBench();
  const now = () => Number.MAX_SAFE_INTEGER;
  const store: TieredStore = tieredStore({ hot: bench.store, cold: memoryStore(), coldAfterMs: 0, now });
  const moving = <G extends unknown[], R>(write: (...given: G) => Promise<R>) => {
    return async (...given: G): Promise<R> => {
      const answer = await write(...given);
      await store.move();
      return answer;
    };
  };
  const wrapped = { ...store, create: moving(store.create), commit: moving(store.commit) };
  return { ...bench, store: wrapped, open: async () => wrapped };
}

describe("a tiered store that moves at once", () => {
  for (const contractCase of snapshotStoreContract) {
    const { name } = contractCase;
    it(differs.has(name) ? `differs, as documented: ${name}` : name, async ({ skip }) => {
      const bench = movedAtOnce();
      if (!isClaimed(contractCase, bench)) skip(`not claimed: ${contractCase.needs}`);
      if (differs.has(name)) await expect(contractCase.run(bench)).rejects.toThrow();
      else await contractCase.run(bench);
    });
  }
});
