// A month of virtual time costs hundreds of polls, not millions, and timers still fire on time.
import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, hour, line, second, setUp } from "../runtime/runtime.fixture.ts";

const day = 24 * hour;

describe("B4: a long time on the virtual clock", () => {
  afterEach(closeAll);

  function counted() {
    const environment = virtualEnvironment();
    const memory = memoryStore({ now: () => environment.now() });
    const count = { claims: 0, loads: 0 };
    const store: typeof memory = {
      ...memory,
      claim(options) {
        count.claims++;
        return memory.claim(options);
      },
      load(id) {
        count.loads++;
        return memory.load(id);
      },
    };
    return { environment, store, count };
  }

  it("costs hundreds of polls, also where somebody waits for a result, and a timer is on time", async () => {
    const { environment, store, count } = counted();
    const { runtime } = setUp({ store, workflows: [line("w", "sleep", "say"), line("a", "ask")] }, environment);
    const until = environment.now() + 10 * day;
    const run = await runtime.start("w", { input: { until } });
    const asked = await runtime.start("a");
    const waiting = asked.result();
    waiting.catch(() => undefined);
    await environment.advance(30 * day);
    const resumed = (await store.events(run.workflowId, -1, 100)).find(({ event }) => event.type === "resumed");
    expect(resumed?.event.at).toBeGreaterThanOrEqual(until);
    expect(resumed?.event.at).toBeLessThan(until + 10);
    expect(count.claims).toBeLessThan(3_000);
    expect(count.loads).toBeLessThan(3_000);
  });

  it("finds what another process has left, late by no more than a 64th, and by its end in any case", async () => {
    const { environment, store } = counted();
    const workflows = [line("w", "sleep", "say")];
    const gone = setUp({ store, workflows, drive: false }, environment);
    const until = environment.now() + 10 * day;
    const run = await gone.runtime.start("w", { input: { until } });
    await gone.runtime.advance(run.workflowId);
    setUp({ store, workflows }, environment);
    await environment.advance(10 * day);
    expect((await store.load(run.workflowId))?.status).toBe("completed");
  });

  it("polls as often as asked for in the first minute", async () => {
    const { environment, store, count } = counted();
    setUp({ store }, environment);
    await environment.advance(30 * second);
    expect(count.claims).toBeGreaterThanOrEqual(30);
  });
});
