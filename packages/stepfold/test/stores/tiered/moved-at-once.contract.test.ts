import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { type TieredStore, tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import { isClaimed, type StoreBench, snapshotStoreContract } from "../../../src/testing/index.ts";
import { memoryBench } from "../../testing/memory-bench.fixture.ts";

/** The cases that give another result for moved executions, as docs/stores/tiered.md says. */
const differs: ReadonlySet<string> = new Set([
  // the claim leaves the hot store together with the execution
  "renew: tells that it was cancelled",
  // lists have the executions of the cold store after those of the hot store
  "list: filters together give what each of them gives",
]);

/** A store that moves an execution that has ended, or that waits and is not held, before it acknowledges the write. */
function movedAtOnce(): StoreBench & { readonly movedWaiting: () => number } {
  const bench = memoryBench();
  let [time, movedWaiting] = [1_000_000, 0];
  const now = () => time;
  const cold = memoryStore({ now, idempotencyRetentionMs: bench.retentionMs });
  const store: TieredStore = tieredStore({ hot: bench.store, cold, coldAfterMs: 0, now });
  const moving = <G extends unknown[], R>(write: (...given: G) => Promise<R>) => {
    return async (...given: G): Promise<R> => {
      const answer = await write(...given);
      const before = await cold.list({ status: ["paused"] });
      await store.move();
      movedWaiting += Number((await cold.list({ status: ["paused"] })).items.length > before.items.length);
      return answer;
    };
  };
  const wrapped = { ...store, create: moving(store.create), commit: moving(store.commit), release: moving(store.release) };
  const advance = async (durationMs: number): Promise<void> => {
    time += durationMs;
    await bench.advance(durationMs);
  };
  return { ...bench, store: wrapped, open: async () => wrapped, advance, movedWaiting: () => movedWaiting };
}

describe("a tiered store that moves at once", () => {
  let movedWaiting = 0;
  for (const contractCase of snapshotStoreContract) {
    const { name } = contractCase;
    it(differs.has(name) ? `differs, as documented: ${name}` : name, async ({ skip }) => {
      const bench = movedAtOnce();
      if (!isClaimed(contractCase, bench)) skip(`not claimed: ${contractCase.needs}`);
      if (differs.has(name)) await expect(contractCase.run(bench)).rejects.toThrow();
      else await contractCase.run(bench);
      movedWaiting += bench.movedWaiting();
    });
  }

  it("has moved executions that waited", () => {
    expect(movedWaiting).toBeGreaterThan(5);
  });
});
