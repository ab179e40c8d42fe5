import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { deferred } from "../../engine/engine.fixture.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

describe("AUDIT, suspicions: a machine that slept, whose own clock stood still meanwhile", () => {
  it("makes a retry when the store's clock says so, while another step runs", async () => {
    const environment = virtualEnvironment();
    const slept = { ms: 0 };
    const gate = deferred<void>();
    const attempts: number[] = [];
    const go = defineNode({ executor: () => ({ data: null }) });
    const slow = defineNode({
      executor: async () => {
        await gate.promise;
        return { data: "slow" };
      },
    });
    const flaky = defineNode({
      retryPolicy: { maxAttempts: 2, interval: "20s", backoff: "fixed" },
      executor: (_data, { attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) throw new Error("busy");
        return { data: "done" };
      },
    });
    const workflow = {
      id: "both",
      nodes: ["go", "slow", "flaky"].map((type) => ({ id: type, type })),
      edges: ["slow", "flaky"].map((target) => ({ source: "go", target })),
    };
    const store = memoryStore({ now: () => environment.now() + slept.ms });
    const { runtime } = setUp({ store, nodeDefinitions: { go, slow, flaky }, workflows: [workflow] }, environment);
    await runtime.start("both");
    await environment.advance(second);
    expect(attempts).toEqual([1]);
    slept.ms = 15 * second;
    // the renewal after a third of the lease tells the session the time of the store
    await environment.advance(9 * second + 100);
    expect(attempts).toEqual([1, 2]);
    gate.resolve();
  });
});
