import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../src/stores/databases/sqlite/sqlite-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { at, closeAll, day, hour, minute, scheduling, second, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

const hourly = { workflow: "quick", every: "1h" };
const napping = { workflow: "slow", every: "1h", input: { for: "90m" } };
const key = { idempotencyKey: "click-17" };

describe("a trigger", () => {
  it("starts an execution of its own at once, whose input tells the time", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", hourly);
    const { workflowId } = await runtime.schedules.trigger("s");
    await environment.advance(second);
    expect(workflowId).toMatch(/^s@trigger-.+$/);
    expect(await store.load(workflowId)).toMatchObject({
      status: "completed",
      output: { schedule: "s", at: "2026-01-01T00:00:00Z" },
      scheduledBy: { schedule: "s", at: at("01T00:00:00Z") },
    });
  });

  it.each([
    ["memory", memoryStore],
    ["SQLite", (options: { now: () => number }) => sqliteStore(":memory:", options)],
  ])("is not another one of the same millisecond, also of another process (%s)", async (_, open) => {
    const environment = virtualEnvironment();
    const store = open({ now: () => environment.now() });
    const [one, other] = [scheduling({ store }, environment), scheduling({ store }, environment)];
    await one.runtime.schedules.create("s", hourly);
    const calls = Promise.all(Array.from({ length: 10 }, (_unused, i) => (i % 2 ? one : other).runtime.schedules.trigger("s")));
    // while one process commits its commands, the other one waits for a moment
    await environment.advance(minute);
    const all = await calls;
    expect(new Set(all.map(({ workflowId }) => workflowId)).size).toBe(10);
    expect(await startsOf(store, "s")).toHaveLength(10);
    expect(await one.runtime.schedules.describe("s")).toMatchObject({ counts: { started: 10 }, running: [], problems: [] });
    closeAll();
    await environment.settle();
  });

  it("at the time of a tick takes nothing from the tick", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", { ...hourly, overlap: "allow" });
    await environment.advance(hour - 1);
    for (let i = 0; i < 3; i++, await environment.advance(1)) await runtime.schedules.trigger("s");
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(4);
    expect(await runtime.schedules.describe("s")).toMatchObject({ lastTick: at("01T01:00:00Z"), counts: { started: 4 } });
  });

  it("starts its execution during a pause, and beside one that runs; a tick that skips waits for its end", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", napping, { paused: true });
    const first = await runtime.schedules.trigger("s");
    await environment.advance(minute);
    const second = await runtime.schedules.trigger("s");
    await environment.advance(minute);
    expect((await runtime.schedules.describe("s")).running).toEqual([first.workflowId, second.workflowId]);
    await runtime.schedules.resume("s");
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toHaveLength(2);
    expect((await runtime.schedules.describe("s")).counts).toEqual({ started: 2, skipped: 1, missed: 0 });
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toHaveLength(3);
  });

  it("is cancelled by a tick that cancels, and not by the trigger after it", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", { ...napping, overlap: "cancel" });
    const ids = [await runtime.schedules.trigger("s"), await runtime.schedules.trigger("s")].map(({ workflowId }) => workflowId);
    await environment.advance(minute);
    expect(await Promise.all(ids.map(async (id) => (await store.load(id))?.status))).toEqual(["paused", "paused"]);
    await environment.advance(hour);
    expect(await Promise.all(ids.map(async (id) => (await store.load(id))?.status))).toEqual(["cancelled", "cancelled"]);
  });

  it("is none of the ticks of a backfill", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", { ...hourly, overlap: "allow" });
    await environment.advance(2 * hour);
    await runtime.schedules.trigger("s");
    await runtime.schedules.backfill("s", { from: at("01T00:00:00Z"), to: at("01T02:00:00Z"), overlap: "allow" });
    await runtime.schedules.trigger("s");
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(5);
    expect(await runtime.schedules.describe("s")).toMatchObject({ counts: { started: 5 }, problems: [] });
  });

  it("that was acknowledged is started by the next process", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const first = scheduling({ store, drive: false }, environment);
    await first.runtime.schedules.create("s", hourly);
    const { workflowId } = await first.runtime.schedules.trigger("s", key);
    await first.runtime.close({ timeoutMs: 1 });
    const { runtime } = scheduling({ store }, environment);
    expect(await runtime.schedules.trigger("s", key)).toEqual({ workflowId });
    await environment.advance(minute);
    expect(await store.load(workflowId)).toMatchObject({ status: "completed" });
    expect(await startsOf(store, "s")).toHaveLength(1);
  });

  it("comes too late for a schedule that has ended or was deleted", async () => {
    const { runtime, environment, store } = scheduling();
    const { schedules: all } = runtime;
    await all.create("over", { workflow: "quick", at: "2026-01-01T00:30:00Z" });
    await all.create("gone", hourly);
    await all.delete("gone");
    await environment.advance(hour);
    for (const name of ["over", "gone"]) {
      await expect(all.trigger(name)).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
      await expect(all.trigger(name, key)).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    }
    expect(await startsOf(store, "gone")).toEqual([]);
    await expect(all.trigger("none", key)).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
  });
});

it("a trigger to which no worker has come starts nothing after the schedule was deleted", async () => {
  const { runtime, environment, store } = scheduling({ drive: false });
  await runtime.schedules.create("s", hourly);
  const { workflowId } = await runtime.schedules.trigger("s");
  await runtime.schedules.delete("s");
  runtime.work();
  await environment.advance(minute);
  expect(await store.load(workflowId)).toBeNull();
  expect(await runtime.schedules.describe("s")).toMatchObject({ status: "ended", counts: { started: 0 } });
});

describe("a trigger with an idempotency key", () => {
  it("starts one execution and gives its id, however often it is sent, also at once from several processes", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const both = [scheduling({ store }, environment), scheduling({ store }, environment)];
    await both[0]!.runtime.schedules.create("s", hourly);
    const ids = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const told = Promise.all(both.flatMap(({ runtime }) => [1, 2].map(() => runtime.schedules.trigger("s", key))));
      await environment.advance(minute);
      for (const { workflowId } of await told) ids.add(workflowId);
    }
    expect(await startsOf(store, "s")).toEqual([...ids].map((id) => id.slice("s@".length)));
    expect(await both[0]!.runtime.schedules.describe("s")).toMatchObject({ counts: { started: 1 }, problems: [] });
    const other = await both[1]!.runtime.schedules.trigger("s", { idempotencyKey: "click-18" });
    expect(ids).not.toContain(other.workflowId);
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(2);
  });

  it("starts none either after a thousand others, when the schedule has forgotten the key", { timeout: 120_000 }, async () => {
    const { runtime, store, environment } = scheduling({ limits: { steps: 400 } });
    await runtime.schedules.create("s", { ...hourly, overlap: "queue" }, { paused: true });
    const { workflowId } = await runtime.schedules.trigger("s", key);
    for (let round = 0; round < 10; round++) {
      const others = Array.from({ length: 101 }, (_, i) => runtime.schedules.trigger("s", { idempotencyKey: `other ${round} ${i}` }));
      await environment.advance(minute);
      await Promise.all(others);
    }
    const { counts } = await runtime.schedules.describe("s");
    expect(counts.started).toBe(1_011);
    expect(await runtime.schedules.trigger("s", key)).toEqual({ workflowId });
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(1_011);
    expect(await runtime.schedules.describe("s")).toMatchObject({ counts, running: [], problems: [] });
  });

  it("starts none while the execution of the first runs", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", napping);
    const { workflowId } = await runtime.schedules.trigger("s", key);
    await environment.advance(minute);
    expect(await runtime.schedules.trigger("s", key)).toEqual({ workflowId });
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(1);
    expect(await runtime.schedules.describe("s")).toMatchObject({ running: [workflowId], counts: { started: 1 } });
  });

  it("gives the id also after the end of the schedule, and starts one for the next schedule of the name", async () => {
    const { runtime, store, environment } = scheduling();
    const { schedules: all } = runtime;
    await all.create("s", hourly);
    const { workflowId } = await all.trigger("s", key);
    await environment.advance(minute);
    await all.delete("s");
    expect(await all.trigger("s", key)).toEqual({ workflowId });
    await all.create("s", hourly);
    const next = await all.trigger("s", key);
    expect(next.workflowId).not.toBe(workflowId);
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(2);
  });

  it("is its own for each schedule", async () => {
    const { runtime, store, environment } = scheduling();
    for (const name of ["a", "b"]) {
      await runtime.schedules.create(name, hourly);
      await runtime.schedules.trigger(name, key);
    }
    await environment.advance(minute);
    for (const name of ["a", "b"]) expect(await startsOf(store, name)).toHaveLength(1);
  });

  it("is refused where the key is none", async () => {
    const { runtime, environment, store } = scheduling();
    await runtime.schedules.create("s", hourly);
    for (const idempotencyKey of ["", "x".repeat(256), 5, null, "\ud800"])
      await expect(runtime.schedules.trigger("s", { idempotencyKey } as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(runtime.schedules.trigger("s", { idempotencykey: "a" } as never)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    await expect(runtime.schedules.trigger("s", null as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toEqual([]);
    await runtime.schedules.trigger("s", { idempotencyKey: "\u{1f389}".repeat(127) });
    await environment.advance(day);
    expect((await startsOf(store, "s")).filter((id) => id.startsWith("trigger-"))).toHaveLength(1);
  });
});
