import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { deferred } from "../engine/engine.fixture.ts";
import { closeAll, line, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

/** Makes a runtime whose store has a clock that can be set, and a step that ends when the test opens its gate. */
function withSettableClock() {
  const environment = virtualEnvironment();
  const clock = { aheadMs: 0 };
  const gate = deferred<void>();
  const bodies: string[] = [];
  const work = defineNode({
    executor: async (_data, step) => {
      bodies.push(step.signal.aborted ? "late" : "begun");
      step.signal.addEventListener("abort", () => bodies.push("aborted"));
      await gate.promise;
      return { data: "done" };
    },
  });
  const store = memoryStore({ now: () => environment.now() + clock.aheadMs });
  const more = { store, nodeDefinitions: { work }, workflows: [line("long", "work", "work")], leaseMs: 3 * second, pollMs: second };
  return { ...setUp(more, environment), clock, gate, bodies };
}

describe("AUDIT 9: an execution that this process runs and whose lease has ended unnoticed", () => {
  it("goes on under the new claim, and its step is not performed a second time", async () => {
    const { runtime, environment, store, clock, gate, bodies } = withSettableClock();
    const run = await runtime.start("long");
    await environment.advance(1_500);
    clock.aheadMs = 31 * second;
    await environment.advance(10 * second);
    expect(bodies).toEqual(["begun"]);
    gate.resolve();
    expect(await run.result()).toBe("done");
    expect(bodies).toEqual(["begun", "begun"]);
    const events = await store.events(run.workflowId, -1, 100);
    expect(events.map(({ event: { type } }) => type)).toEqual(["started", "completed", "completed"]);
  });

  it("is given back by a drain, and nothing of it begins afterwards", async () => {
    const { runtime, environment, store, clock, gate, bodies } = withSettableClock();
    const run = await runtime.start("long");
    await environment.advance(1_500);
    clock.aheadMs = 31 * second;
    await environment.advance(2 * second);
    const closed = runtime.close({ timeoutMs: 4 * second });
    gate.resolve();
    await environment.advance(5 * second);
    await closed;
    await environment.advance(60 * second);
    expect(bodies).toEqual(["begun"]);
    const listed = (await store.list()).items.find(({ workflowId }) => workflowId === run.workflowId);
    expect(listed?.lease).toBeNull();
  });

  it("is not parked, however often that happens", async () => {
    const { runtime, environment, clock, gate } = withSettableClock();
    const run = await runtime.start("long");
    for (let i = 0; i < 12; i++) {
      clock.aheadMs += 31 * second;
      await environment.advance(2 * second);
    }
    gate.resolve();
    expect(await run.result()).toBe("done");
  });
});
