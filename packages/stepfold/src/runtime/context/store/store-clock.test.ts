import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { builtinNodes } from "../../../nodes/index.ts";
import { memoryStore } from "../../../stores/databases/memory/memory-store.ts";
import { altered } from "../../../testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../../testing/virtual-environment.ts";
import { createRuntime } from "../../create-runtime.ts";
import { StoreClock } from "./store-clock.ts";

const hourMs = 3_600_000;

/** A store's clock that counts its readings. */
function world(aheadMs = 0) {
  const environment = virtualEnvironment();
  const store = {
    asked: 0,
    aheadMs,
    async now() {
      store.asked++;
      return environment.now() + store.aheadMs;
    },
  };
  return { environment, store, clock: new StoreClock(store, environment) };
}

describe("the clock of a store, as a process knows it", () => {
  it("is read once for many callers", async () => {
    const { store, clock, environment } = world(hourMs);
    const readings = await Promise.all(Array.from({ length: 100 }, () => clock.now()));
    expect(new Set(readings)).toEqual(new Set([environment.now() + hourMs]));
    await environment.advance(9_000);
    expect(await clock.now()).toBe(environment.now() + hourMs);
    expect(store.asked).toBe(1);
  });

  it("is read again after a while: it may have been set", async () => {
    const { store, clock, environment } = world(hourMs);
    await clock.now();
    store.aheadMs = -hourMs;
    await environment.advance(10_000);
    expect(await clock.now()).toBe(environment.now() - hourMs);
  });

  it("is not read if a claim has brought the time", async () => {
    const { store, clock, environment } = world();
    clock.observe(environment.now() + hourMs);
    await environment.advance(5_000);
    expect(await clock.now()).toBe(environment.now() + hourMs);
    expect(store.asked).toBe(0);
  });

  it("does not go back because an answer took long", async () => {
    const { clock, environment } = world();
    const before = await clock.now();
    clock.observe(environment.now() - 3_000);
    expect(await clock.now()).toBe(before);
  });

  it("is read again if the machine slept, or its own clock was set", async () => {
    const { store, clock, environment } = world();
    let sleptMs = 0;
    const asleep = { ...environment, now: () => environment.now() + sleptMs };
    const here = new StoreClock(store, asleep);
    await here.now();
    // the monotonic clock stands still meanwhile
    sleptMs = hourMs;
    store.aheadMs = hourMs;
    expect(await here.now()).toBe(environment.now() + hourMs);
    await clock.now();
  });

  it("is that of the machine, for hints, until the first reading", () => {
    const { clock, environment } = world(hourMs);
    expect(clock.estimate()).toBe(environment.now());
  });

  it("passes on that the store does not answer, and reads again", async () => {
    const { environment } = world();
    let isAway = true;
    const store = { now: async () => (isAway ? Promise.reject(new RangeError("away")) : 7) };
    const clock = new StoreClock(store, environment);
    await expect(clock.now()).rejects.toThrow("away");
    isAway = false;
    expect(await clock.now()).toBe(7);
  });
});

describe.each([
  ["an hour ahead", hourMs],
  ["an hour behind", -hourMs],
])("a caller whose clock is %s", (_, wrongMs) => {
  const workflow = {
    id: "post",
    nodes: [
      { id: "review", type: "approval", data: { timeout: "10 minutes" } },
      { id: "published", type: "noop" },
      { id: "late", type: "noop" },
    ],
    edges: [
      { source: "review", target: "published", sourceHandle: "approved" },
      { source: "review", target: "late", sourceHandle: "timeout" },
    ],
  };

  async function paused() {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: environment.now });
    const wrong = { ...environment, now: () => environment.now() + wrongMs };
    const setting = { workflows: [workflow], nodeDefinitions: builtinNodes };
    const worker = createRuntime({ ...setting, store, environment });
    const caller = createRuntime({ ...setting, store, environment: wrong, drive: false });
    const run = await caller.start("post", { workflowId: "p" });
    await environment.advance(2_000);
    expect((await run.snapshot()).status).toBe("paused");
    return { environment, worker, run, store };
  }

  it("answers in time", async () => {
    const { environment, run, worker } = await paused();
    await environment.advance(9 * 60_000);
    await run.resume({ payload: { approved: true } });
    await environment.advance(2_000);
    expect(await run.snapshot()).toMatchObject({ status: "completed", context: { published: [{ attempt: 1 }] } });
    await worker.close();
  });

  it("is refused when it is too late", async () => {
    const { environment, run, worker, store } = await paused();
    // no worker has noticed yet
    await worker.close();
    await environment.advance(11 * 60_000);
    await expect(run.resume({ payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_EXPIRED" });
    expect(await store.load("p")).toMatchObject({ status: "paused" });
  });

  it("writes a history by the store's clock", async () => {
    const { environment, run, worker, store } = await paused();
    const [first] = await store.events("p", -1, 1);
    expect(first!.event.at).toBe(environment.now() - 2_000);
    await run.signal("anything", {}, { ttl: "1 minute" });
    const rows = await store.events("p", 0, 100);
    expect(rows.at(-1)!.event).toMatchObject({ type: "signalled", at: environment.now(), expiresAt: environment.now() + 60_000 });
    await worker.close();
  });
});

it("a start is tried again while the store does not give the time", async () => {
  const environment = virtualEnvironment();
  const whole = memoryStore({ now: environment.now });
  let refusals = 3;
  const store = altered(whole, {
    async now() {
      if (refusals-- > 0) throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "it is away" });
      return whole.now();
    },
  });
  const workflow = { id: "short", nodes: [{ id: "a", type: "noop" }], edges: [] };
  const runtime = createRuntime({ store, environment, nodeDefinitions: builtinNodes, workflows: [workflow], drive: false });
  const starting = runtime.start("short", { workflowId: "s" });
  await environment.advance(1_000);
  expect((await starting).workflowId).toBe("s");
  expect(await store.load("s")).toMatchObject({ status: "active" });
});
