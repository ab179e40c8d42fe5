import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const leaseMs = 60 * second;

describe("a claim that is confirmed because its execution was long on its way", () => {
  it("is confirmed again if the store does not answer once, and the execution goes on at once, not after a lease", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const pause = (ms: number) => new Promise<void>((resolve) => void environment.after(ms, resolve));
    let [refusals, confirmed] = [1, 0];
    const store = {
      ...inner,
      async load(workflowId: string) {
        await pause(300);
        return inner.load(workflowId);
      },
      async renew(claim: Parameters<typeof inner.renew>[0]) {
        if (refusals-- > 0) throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "it is busy" });
        confirmed++;
        return inner.renew(claim);
      },
    };
    const { runtime } = setUp({ store, leaseMs }, environment);
    const run = await runtime.start("nap", { workflowId: "x", input: { until: environment.now() + 5 * second } });
    const ended = run.result();
    await environment.advance(8 * second);
    expect(confirmed).toBeGreaterThan(0);
    expect(await ended).toEqual({ text: "say" });
  });
});
