import { describe, expect, it } from "vitest";
import { memoryBench } from "../../test/testing/memory-bench.fixture.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { brokenStores, type ContractCase, ContractViolation, type StoreBench, snapshotStoreContract } from "./index.ts";

const byName = new Map(snapshotStoreContract.map((contractCase) => [contractCase.name, contractCase]));

describe("the contract of SnapshotStore", () => {
  for (const { name, caughtBy, breaks } of brokenStores) {
    it(`notices a store that ${name}`, async () => {
      const bench = memoryBench();
      const failure = await failureOf(byName.get(caughtBy)!, {
        ...bench,
        store: breaks(bench.store),
        open: async () => breaks(bench.store),
        cut: async () => undefined,
      });
      // Any other error would be a mistake of the wrapper.
      expect(failure instanceof ContractViolation || StepfoldError.is(failure), String(failure)).toBe(true);
    });
  }

  it("has a name of its own for every case", () => {
    expect(byName.size).toBe(snapshotStoreContract.length);
  });
});

async function failureOf(contractCase: ContractCase, bench: StoreBench): Promise<unknown> {
  try {
    await contractCase.run(bench);
    return null;
  } catch (error) {
    return error;
  }
}
