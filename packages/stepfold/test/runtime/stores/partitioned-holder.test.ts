import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, line, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

describe("a worker that is cut off from its store", () => {
  it("aborts its steps once its lease has run out", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    let isCut = false;
    const signals: AbortSignal[] = [];
    const through = <T>(call: () => Promise<T>): Promise<T> =>
      isCut ? Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "cut off" })) : call();
    const cut = {
      ...store,
      renew: (claim: Parameters<typeof store.renew>[0]) => through(() => store.renew(claim)),
      commit: (commit: Parameters<typeof store.commit>[0]) => through(() => store.commit(commit)),
      claim: (options: Parameters<typeof store.claim>[0]) => through(() => store.claim(options)),
      load: (id: string) => through(() => store.load(id)),
    };
    const nodeDefinitions = {
      stuck: defineNode({
        executor: (_data, step) => {
          signals.push(step.signal);
          return signals.length === 1 ? new Promise<never>(() => undefined) : { data: "done by another" };
        },
      }),
    };
    const options = { nodeDefinitions, workflows: [line("long", "stuck")], leaseMs: 5 * second };
    const first = setUp({ ...options, store: cut }, environment);
    await first.runtime.start("long", { workflowId: "x" });
    await environment.settle();
    isCut = true;
    const other = setUp({ ...options, store }, environment);
    await environment.advance(10 * second);
    expect(await (await other.runtime.get("x")).result()).toBe("done by another");
    expect(signals[0]!.aborted).toBe(true);
  });
});
