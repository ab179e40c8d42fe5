import { describe, it } from "vitest";
import { memoryBench } from "../../../../test/testing/memory-bench.fixture.ts";
import { rateCases } from "../../contract/claims/rate-cases.ts";
import { withRateRules } from "./rate-rules.ts";

describe("a store that lets executions begin by rules of its own", () => {
  it.each(rateCases.map(({ name, run }) => [name, run] as const))("makes no mistake by itself: %s", async (_, run) => {
    const bench = memoryBench();
    const store = withRateRules(bench.store, {});
    await run({ ...bench, store, open: async () => store });
  });
});
