import { describe, it } from "vitest";
import { memoryBench } from "../../../../test/testing/memory-bench.fixture.ts";
import { exemptCases } from "../../contract/claims/exempt-cases.ts";
import { permitCases } from "../../contract/claims/permit-cases.ts";
import { withPermitRules } from "./permit-rules.ts";

describe("a store that lets executions take turns by rules of its own", () => {
  it.each(
    [...permitCases, ...exemptCases].map(({ name, run }) => [name, run] as const),
  )("makes no mistake by itself: %s", async (_, run) => {
    const bench = memoryBench();
    const store = withPermitRules(bench.store, {});
    await run({ ...bench, store, open: async () => store });
  });
});
