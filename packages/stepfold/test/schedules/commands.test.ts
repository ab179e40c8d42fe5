import { afterEach, describe, expect, it } from "vitest";
import { schedules } from "../../src/schedules/schedules.ts";
import { at, closeAll, day, hour, minute, quick, scheduling, second, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

const hourly = { workflow: "quick", every: "1h" };

describe("a schedule", () => {
  it("starts its workflow at each tick, as an execution of its own, in the zone that it names", async () => {
    const { runtime, store, environment } = scheduling();
    const made = await runtime.schedules.create(
      "nightly",
      { workflow: "quick", cron: "0 2 * * *", zone: "Europe/Vienna", metadata: { of: "night" } },
      { tenant: "acme" },
    );
    expect(made).toMatchObject({
      name: "nightly",
      workflowId: "schedule:nightly",
      status: "active",
      generation: 1,
      tenant: "acme",
      lastTick: null,
    });
    expect(made.nextTicks.slice(0, 2)).toEqual([at("01T01:00:00Z"), at("02T01:00:00Z")]);
    await environment.advance(2 * day);
    expect(await startsOf(store, "nightly")).toEqual(["2026-01-01T01:00:00Z", "2026-01-02T01:00:00Z"]);
    const started = (await store.load("nightly@2026-01-01T01:00:00Z"))!;
    expect(started).toMatchObject({
      status: "completed",
      output: { schedule: "nightly", at: "2026-01-01T01:00:00Z" },
      metadata: { of: "night" },
      tenant: "acme",
      scheduledBy: { schedule: "nightly", workflowId: "schedule:nightly", at: at("01T01:00:00Z"), reports: true },
    });
    expect(started).not.toHaveProperty("parent");
    // a schedule is listed like every other execution
    expect((await runtime.list({ definitionId: "stepfold-schedule", metadata: { schedule: "nightly" } })).items).toHaveLength(1);
    expect(await (await runtime.get("schedule:nightly")).explain()).toMatchObject({ status: "paused" });
  });

  it("is made once, and not with something else", async () => {
    const { runtime } = scheduling();
    const [first, again] = await Promise.all([1, 2].map(() => runtime.schedules.create("s", hourly)));
    expect(again).toEqual(first);
    await expect(runtime.schedules.create("s", { ...hourly, every: "2h" })).rejects.toMatchObject({ code: "SCHEDULE_EXISTS" });
  });

  it("ends after its last tick, after `count` starts, or after `endAt`, and its name can be used again", async () => {
    const { runtime, store, environment } = scheduling();
    const { schedules: all } = runtime;
    await all.create("once", { workflow: "quick", at: "2026-01-01T00:30:00Z" });
    await all.create("twice", { ...hourly, count: 2 });
    await all.create("until", { ...hourly, endAt: "2026-01-01T03:00:00Z", startAt: "2026-01-01T02:00:00Z" });
    expect((await all.describe("until")).nextTicks).toEqual([at("01T02:00:00Z"), at("01T03:00:00Z")]);
    expect((await all.describe("twice")).nextTicks).toHaveLength(2);
    await environment.advance(5 * hour);
    expect(await startsOf(store, "once")).toEqual(["2026-01-01T00:30:00Z"]);
    expect(await startsOf(store, "twice")).toEqual(["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"]);
    expect(await startsOf(store, "until")).toEqual(["2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"]);
    for (const name of ["once", "twice", "until"]) expect(await all.describe(name)).toMatchObject({ status: "ended" });
    expect((await all.list()).items).toEqual([]);
    expect((await all.list({ ended: true })).items).toHaveLength(3);
    await expect(all.pause("once")).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    expect(await all.create("twice", { ...hourly, count: 2 })).toMatchObject({ status: "ended", workflowId: "schedule:twice" });
    expect(await all.create("once", { workflow: "quick", at: "2026-01-01T06:00:00Z" })).toMatchObject({ workflowId: "schedule:once" });
    await environment.advance(2 * hour);
    expect(await startsOf(store, "once")).toHaveLength(2);
  });

  it.each([
    [{ workflow: "quick" }, "/cron"],
    [{ workflow: "quick", cron: "0 2 * * *", every: "1h" }, "/cron"],
    [{ workflow: "", every: "1h" }, "/workflow"],
    [{ ...hourly, evrey: 1 }, "/evrey"],
    [{ workflow: "quick", cron: "0 25 * * *" }, "/cron"],
    [{ workflow: "quick", cron: [] }, "/cron"],
    [{ workflow: "quick", cron: "0 2 * * *", zone: "Mars" }, "/zone"],
    [{ ...hourly, zone: "UTC" }, "/zone"],
    [{ workflow: "quick", cron: "0 2 * * *", zone: 5 }, "/zone"],
    [{ workflow: "quick", every: "1ms" }, "/every"],
    [{ workflow: "quick", every: "often" }, "/every"],
    [{ workflow: "quick", cron: "0 2 * * *", offset: "1h" }, "/offset"],
    [{ ...hourly, startAt: "soon" }, "/startAt"],
    [{ ...hourly, count: 0 }, "/count"],
    [{ ...hourly, overlap: "sometimes" }, "/overlap"],
    [{ ...hourly, metadata: 5 }, "/metadata"],
    [{ ...hourly, input: "x".repeat(70_000) }, ""],
    [5, ""],
    // times that never come
    [{ workflow: "quick", cron: "0 0 30 2 *" }, "/cron"],
    [{ workflow: "quick", at: "2020-01-01" }, "/at"],
    [{ ...hourly, endAt: "2020-01-01" }, "/endAt"],
  ])("is refused where it says nothing that can be done: %j", async (spec, pointer) => {
    const { runtime } = scheduling();
    await expect(runtime.schedules.create("s", spec as never)).rejects.toMatchObject({
      code: "SCHEDULE_INVALID",
      details: { issues: [expect.objectContaining({ pointer })] },
    });
  });

  it("has a name that ids can be made of", async () => {
    const { runtime } = scheduling();
    for (const name of ["", "a b", "a@b", "a~2", ".x", "x".repeat(101), 5])
      await expect(runtime.schedules.create(name as string, hourly)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(runtime.schedules.pause("none")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
    await expect(runtime.schedules.create("s", hourly, { tennant: 1 } as never)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    await expect(runtime.schedules.list({ limit: 0 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("needs the option `schedules`", async () => {
    const { runtime } = scheduling({ schedules: undefined });
    await expect(runtime.schedules.list()).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("pause and resume", () => {
  it("leave out the ticks in between, and the reason is kept", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", hourly);
    await environment.advance(hour + minute);
    await runtime.schedules.pause("s", "the mail server moves");
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "paused", note: "the mail server moves", nextTicks: [] });
    await environment.advance(3 * hour);
    await runtime.schedules.resume("s");
    expect((await runtime.schedules.describe("s")).nextTicks[0]).toBe(at("01T05:00:00Z"));
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z", "2026-01-01T05:00:00Z"]);
  });

  it("count from when they were said, also where no worker was there then", async () => {
    const { runtime, store, environment } = scheduling({ drive: false });
    await runtime.schedules.create("s", { ...hourly, overlap: "allow" });
    await environment.advance(2 * hour + minute);
    await runtime.schedules.pause("s");
    await environment.advance(2 * hour);
    await runtime.schedules.resume("s");
    await environment.advance(hour);
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "active" });
    runtime.work();
    await environment.advance(minute);
    // the ticks before the pause, and the tick after it
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T05:00:00Z"]);
  });

  it("a schedule may begin paused", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", hourly, { paused: "not yet" });
    await environment.advance(2 * hour);
    expect(await startsOf(store, "s")).toEqual([]);
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "paused", note: "not yet" });
  });
});

describe("edit", () => {
  it("holds for the ticks after it", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", hourly);
    await environment.advance(hour + minute);
    const edited = await runtime.schedules.edit("s", { cron: "*/15 * * * *", input: 5, workflow: "strict" });
    expect(edited).toMatchObject({ generation: 2, spec: { cron: ["*/15 * * * *"], zone: "UTC", input: 5, workflow: "strict" } });
    expect(edited.spec).not.toHaveProperty("every");
    await environment.advance(30 * minute);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z", "2026-01-01T01:15:00Z", "2026-01-01T01:30:00Z"]);
    expect(await store.load("s@2026-01-01T01:30:00Z")).toMatchObject({ definition: { id: "strict" }, output: 5 });
    // a member that is undefined is removed
    expect((await runtime.schedules.edit("s", { input: undefined })).spec).not.toHaveProperty("input");
  });

  it("is refused where it says nothing that can be done, and then nothing is changed", async () => {
    const { runtime } = scheduling();
    const before = await runtime.schedules.create("s", hourly);
    for (const changes of [{ every: "x" }, { other: 1 }, { endAt: "2020-01-01" }, { workflow: undefined }])
      await expect(runtime.schedules.edit("s", changes as never)).rejects.toMatchObject({ code: "SCHEDULE_INVALID" });
    for (const changes of [null, undefined, 5, "every", []])
      await expect(runtime.schedules.edit("s", changes as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(await runtime.schedules.describe("s")).toEqual(before);
  });

  it("starts what was due before it as it was before, also where no worker was there then", async () => {
    const { runtime, store, environment } = scheduling({ drive: false });
    await runtime.schedules.create("s", { ...hourly, overlap: "allow" });
    await environment.advance(hour + minute);
    await runtime.schedules.edit("s", { input: "new" });
    await environment.advance(hour);
    runtime.work();
    await environment.advance(minute);
    expect(await store.load("s@2026-01-01T01:00:00Z")).toMatchObject({ output: { schedule: "s" } });
    expect(await store.load("s@2026-01-01T02:00:00Z")).toMatchObject({ output: "new" });
  });

  it("of two at once loses none", async () => {
    const { runtime } = scheduling();
    await runtime.schedules.create("s", hourly);
    await Promise.all([runtime.schedules.edit("s", { jitter: "1m" }), runtime.schedules.edit("s", { count: 7 })]);
    expect(await runtime.schedules.describe("s")).toMatchObject({ generation: 3, spec: { jitter: minute, count: 7 } });
  });
});

describe("backfill", () => {
  it("starts past ticks, one after the other, and none that was started before", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", { workflow: "slow", every: "1h", input: { for: "5m" } });
    await environment.advance(hour + minute);
    await runtime.schedules.backfill("s", { from: "2025-12-31T22:00:00Z", to: "2026-01-01T01:00:00Z" });
    await environment.advance(2 * minute);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z"]);
    await environment.advance(20 * minute);
    expect(await startsOf(store, "s")).toEqual([
      "2026-01-01T01:00:00Z",
      "2025-12-31T22:00:00Z",
      "2025-12-31T23:00:00Z",
      "2026-01-01T00:00:00Z",
    ]);
    expect(await runtime.schedules.describe("s")).toMatchObject({ running: [], problems: [] });
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toHaveLength(5);
  });

  it("starts all at once with `allow`", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", hourly);
    await runtime.schedules.backfill("s", { from: "2025-12-29T00:00:00Z", to: "2025-12-31T00:00:00Z", overlap: "allow" });
    await environment.advance(second);
    expect(await startsOf(store, "s")).toHaveLength(49);
  });

  it("is refused in the future, and backwards", async () => {
    const { runtime } = scheduling();
    await runtime.schedules.create("s", hourly);
    for (const options of [
      { from: "2026-01-01", to: "2027-01-01" },
      { from: "2025-12-31", to: "2025-12-30" },
      { from: "x", to: "2025-12-30" },
      { from: "2025-12-30", to: "2025-12-31", overlap: "skip" },
    ])
      await expect(runtime.schedules.backfill("s", options as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("delete", () => {
  it("ends the schedule, and what runs goes on", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", { workflow: "slow", every: "1h", input: { for: "5m" } });
    await environment.advance(hour + minute);
    await runtime.schedules.delete("s");
    await environment.advance(3 * hour);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z"]);
    expect(await store.load("s@2026-01-01T01:00:00Z")).toMatchObject({ status: "completed" });
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "ended" });
    expect((await runtime.schedules.list()).items).toEqual([]);
    expect(await runtime.schedules.create("s", { workflow: "slow", every: "1h", input: { for: "5m" } })).toMatchObject({
      status: "active",
      workflowId: "schedule:s",
    });
  });
});

describe("declared schedules", () => {
  it("are made when a runtime begins to work, and edited where they say something else", async () => {
    const { store, environment, runtime } = scheduling({ schedules: schedules({ s: hourly, paused: { ...hourly, paused: true } }) });
    await environment.settle();
    expect((await runtime.schedules.list()).items.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
      "paused paused",
      "s active",
    ]);
    await runtime.schedules.delete("paused");
    const next = scheduling(
      { store, schedules: schedules({ s: { ...hourly, every: "2h" }, paused: { ...hourly, paused: true } }) },
      environment,
    );
    await environment.settle();
    await environment.advance(second);
    expect(await next.runtime.schedules.describe("s")).toMatchObject({ generation: 2, spec: { every: 2 * hour } });
    // a schedule that was deleted stays deleted
    expect(await next.runtime.schedules.describe("paused")).toMatchObject({ status: "ended" });
  });

  it("are checked when they are declared", () => {
    expect(() => schedules({ s: { workflow: "quick", cron: "x" } })).toThrow(expect.objectContaining({ code: "SCHEDULE_INVALID" }));
  });

  it("are tried again while the store does not answer", async () => {
    const first = scheduling({ drive: false });
    let isDown = true;
    const store = {
      ...first.store,
      list: (query: never) => (isDown ? Promise.reject(new Error("down")) : first.store.list(query)),
    } as typeof first.store;
    const { environment, runtime } = scheduling({ store, workflows: [quick], schedules: schedules({ s: hourly }) }, first.environment);
    await environment.advance(second);
    isDown = false;
    await environment.advance(10 * second);
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "active" });
  });
});
