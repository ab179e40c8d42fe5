import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { calls, closeAll, dying, hour, setUp } from "../../runtime/runtime.fixture.ts";
import { crashing } from "./tiers.fixture.ts";

afterEach(closeAll);

const pollMs = hour / 4;

function tiersAround() {
  const environment = virtualEnvironment();
  const now = () => environment.now();
  const [hot, cold] = [memoryStore({ now }), memoryStore({ now })];
  return { environment, now, hot, cold, store: tieredStore({ hot, cold, coldAfterMs: hour, now }) };
}

describe("a runtime on two tiers", () => {
  it("goes on with an approval that was moved, also when it is answered twice", async () => {
    const { environment, hot, cold, store } = tiersAround();
    const { runtime } = setUp({ store, pollMs }, environment);
    await runtime.start("talk", { workflowId: "x" });
    await environment.advance(3 * hour);
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect([await hot.load("x"), (await cold.load("x"))?.status]).toEqual([null, "paused"]);

    const run = await runtime.get("x");
    expect(await run.resume({ payload: { approved: true }, idempotencyKey: "once" })).toMatchObject({ applied: true });
    expect(await run.resume({ payload: { approved: true }, idempotencyKey: "once" })).toMatchObject({ applied: false });
    await environment.settle();
    expect(await run.result()).toEqual({ text: "say" });
    expect(new Set(calls).size).toBe(calls.length);
    expect((await store.events("x", -1, 10)).map(({ event }) => event.type)).toEqual([
      "started",
      "completed",
      "suspended",
      "resumed",
      "completed",
      "completed",
    ]);
    expect(await hot.load("x")).toBeNull();
  });

  it("fires a timer that was moved, in a process that was not there then", async () => {
    const { environment, hot, store } = tiersAround();
    const first = dying(environment);
    const doomed = setUp({ store, pollMs, environment: first.environment }, environment);
    await doomed.runtime.start("nap", { workflowId: "x", input: { until: environment.now() + 9 * hour } });
    await environment.advance(2 * hour);
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect(await hot.load("x")).toBeNull();
    first.die();
    const { runtime } = setUp({ store, pollMs }, environment);
    await environment.advance(6 * hour);
    expect((await runtime.get("x").then((run) => run.snapshot())).status).toBe("paused");
    await environment.advance(hour + pollMs);
    expect(await (await runtime.get("x")).result()).toEqual({ text: "say" });
  });

  it("goes on wherever a move broke off", async () => {
    for (let position = 0; ; position++) {
      const { environment, now, hot, cold, store } = tiersAround();
      const { runtime } = setUp({ store, pollMs }, environment);
      await runtime.start("talk", { workflowId: "ask" });
      await runtime.start("nap", { workflowId: "nap", input: { until: environment.now() + 9 * hour } });
      await environment.advance(2 * hour);
      const broken = crashing({ hot, cold }, position, "after");
      await tieredStore({ hot: broken.hot, cold: broken.cold, coldAfterMs: hour, now })
        .move()
        .catch(() => undefined);
      await (await runtime.get("ask")).resume({ payload: { approved: true } });
      await environment.advance(8 * hour);
      for (const id of ["ask", "nap"]) expect(await (await runtime.get(id)).result()).toEqual({ text: "say" });
      expect(new Set(calls).size).toBe(calls.length);
      closeAll();
      if (broken.made() <= position) break;
    }
  });

  it("cancels what was moved", async () => {
    const { environment, store } = tiersAround();
    const { runtime } = setUp({ store, pollMs }, environment);
    await runtime.start("talk", { workflowId: "x" });
    await environment.advance(3 * hour);
    await store.move();
    const run = await runtime.get("x");
    await run.cancel({ reason: "no longer wanted" });
    expect((await run.snapshot()).status).toBe("cancelled");
    await store.delete("x");
    expect(await store.load("x")).toBeNull();
  });
});
