import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { readSpec } from "../../src/schedules/spec.ts";
import { initialState, readState } from "../../src/schedules/state.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { altered } from "../../src/testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { at, closeAll, day, hour, minute, scheduling, second, startsOf, tellable } from "./schedules.fixture.ts";

afterEach(closeAll);

const hourly = { workflow: "quick", every: "1h" };
const now = at("01T00:00:00Z");

/** What is no command, and what the problem says of it. */
const wrong: readonly [unknown, string][] = [
  [null, "is no object"],
  [5, "is no object"],
  ["NaN", "is no object"],
  [[{ type: "pause", at: now }], "is no object"],
  [{}, "has no time `at`"],
  [{ type: "explode", at: now }, "has a `type` that is unknown"],
  [{ at: now }, "has a `type` that is unknown"],
  [{ type: "toString", at: now }, "has a `type` that is unknown"],
  ...(["x", "NaN", null, -1, 8.64e15 + 5, 1e300, -1e300, {}] as const).flatMap((time): [unknown, string][] =>
    ["trigger", "pause", "resume", "edit", "backfill"].map((type) => [{ type, at: time }, "has no time `at`"]),
  ),
  [{ type: "trigger", at: now, workflowId: "order-7" }, "has a `workflowId` that does not begin with s@"],
  [{ type: "trigger", at: now, workflowId: "schedule:other" }, "has a `workflowId`"],
  [{ type: "trigger", at: now, workflowId: `s@${"x".repeat(300)}` }, "has a `workflowId`"],
  [{ type: "trigger", at: now, workflowId: 5 }, "has a `workflowId`"],
  [{ type: "trigger", at: now + 30 * day }, "its time is more than a day ahead"],
  [{ type: "trigger", at: 8.64e15 }, "its time is more than a day ahead"],
  [{ type: "edit", at: now }, "has `changes` that are no object"],
  [{ type: "edit", at: now, changes: [1] }, "has `changes` that are no object"],
  [{ type: "edit", at: now, changes: {}, removes: "every" }, "has `removes` that are no list"],
  [{ type: "edit", at: now, changes: {}, removes: [5] }, "has `removes` that are no list"],
  [{ type: "edit", at: now, changes: { input: "x".repeat(200_000) } }, "is too large"],
  [{ type: "edit", at: now, changes: { input: "x".repeat(70_000) } }, "bytes of JSON"],
  [{ type: "edit", at: now, changes: { every: -1 } }, "/every"],
  [{ type: "edit", at: now, changes: { cron: { a: 1 } } }, "/cron"],
  [{ type: "edit", at: now, changes: {}, replaces: true }, "/workflow"],
  [{ type: "edit", at: now, changes: {}, removes: ["workflow"] }, "/workflow"],
  [{ type: "edit", at: now, changes: { [`every${"x".repeat(50)}`]: 1 } }, "is not a member"],
  [{ type: "pause", at: now, note: 5 }, "has a `note` that is no text"],
  [{ type: "backfill", at: now, from: -1e300, to: 1e300, overlap: "allow" }, "has a `from` and a `to`"],
  [{ type: "backfill", at: now, from: 0, to: now + hour, overlap: "allow" }, "has a `from` and a `to`"],
  [{ type: "backfill", at: now, from: now, to: now - hour, overlap: "allow" }, "has a `from` and a `to`"],
  [{ type: "backfill", at: now, from: "2025-01-01", to: now, overlap: "allow" }, "has a `from` and a `to`"],
  [{ type: "backfill", at: now, from: now - hour, to: now, overlap: "skip" }, "has an `overlap`"],
  [{ type: "backfill", at: 8e15, from: 0, to: 8e15, overlap: "allow" }, "its time is more than a day ahead"],
  [{ type: "ended", at: "x", workflowId: "s@1" }, "A report was ignored"],
  [{ type: "ended", at: now, workflowId: "order-7" }, "A report was ignored"],
  [{ type: "reopened", at: now }, "A report was ignored"],
  [{ type: "found", at: now, workflowId: { a: 1 } }, "A report was ignored"],
  [{ type: "refused", at: 1e300, workflowId: "s@1", error: { code: "X" } }, "A report was ignored"],
];

describe("a command that no schedule can carry out", () => {
  it.each(wrong)("is a problem of the schedule, which ticks on as before: case %#", async (payload, says) => {
    const { part, tell } = tellable();
    const { runtime, store, environment, problems } = scheduling({ schedules: part });
    await runtime.schedules.create("s", hourly);
    const { nextTicks, ...before } = await runtime.schedules.describe("s");
    await tell("s", payload);
    for (const wait of [0, hour + minute]) {
      await environment.advance(wait);
      const described = await runtime.schedules.describe("s");
      expect(described.problems).toMatchObject([{ workflowId: "schedule:s", code: "SCHEDULE_INVALID" }]);
      expect(described.problems[0]!.message).toContain(says);
      expect(described.problems[0]!.message.length).toBeLessThanOrEqual(300);
      expect(described).toMatchObject({ spec: before.spec, generation: 1, status: "active", running: [], queued: [] });
    }
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z"]);
    await runtime.schedules.trigger("s");
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toHaveLength(3);
    expect(await store.load("schedule:s")).toMatchObject({ status: "paused" });
    expect(problems).toEqual([]);
  });

  it("keeps none of the good ones from being carried out, however many there are", async () => {
    const { part, tell } = tellable();
    const { runtime, store, environment } = scheduling({ schedules: part, drive: false });
    await runtime.schedules.create("s", hourly);
    for (const [payload] of wrong) {
      await tell("s", payload);
      await runtime.schedules.trigger("s");
    }
    runtime.work();
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toHaveLength(wrong.length);
    expect((await runtime.schedules.describe("s")).problems).toHaveLength(10);
  });

  it("is told by its note at most, if that is long, and a call with a wrong one is refused", async () => {
    const { runtime, environment } = scheduling();
    await runtime.schedules.create("s", hourly);
    for (let i = 0; i < 30; i++) await runtime.schedules.pause("s", "x".repeat(500_000));
    await environment.advance(minute);
    expect((await runtime.schedules.describe("s")).note).toHaveLength(300);
    await expect(runtime.schedules.pause("s", 5 as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("of the first versions is carried out", async () => {
    const { part, tell } = tellable();
    const { runtime, store, environment } = scheduling({ schedules: part });
    await runtime.schedules.create("s", hourly);
    await tell("s", { type: "trigger", at: now + 5 });
    await environment.advance(second);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T00:00:00.005Z"]);
  });
});

describe("a state that was changed in the store", () => {
  const state = JSON.parse(JSON.stringify(initialState("s", readSpec("s", hourly), now, false))) as Record<string, unknown>;

  it.each([
    {
      commands: [
        { type: "trigger", at: 8.64e15 + 5 },
        { type: "pause", at: now },
      ],
    },
    { commands: [null, 5, "x"] },
    { triggers: [8.64e15 + 5] },
    { triggers: [{ at: now, workflowId: "order-7" }, { at: "x", workflowId: "s@1" }, null] },
    { queued: [1e300, "x", null] },
    { backfills: [{ after: -1e300, to: 1e300, overlap: "allow" }, { after: 0, to: now, overlap: "skip" }, null] },
    { running: [5, "order-7"] },
  ])("loses what nothing can be done with, says so, and ticks on: %j", async (changes) => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const damage = (snapshot: Snapshot | null): Snapshot | null =>
      snapshot?.workflowId === "schedule:s" && snapshot.version === 0
        ? { ...snapshot, input: { ...(snapshot.input as object), ...changes } as never }
        : snapshot;
    const seen = altered(store, { load: async (workflowId) => damage(await store.load(workflowId)) });
    await scheduling({ store, drive: false }, environment).runtime.schedules.create("s", hourly);
    const { runtime } = scheduling({ store: seen }, environment);
    await environment.advance(hour + minute);
    const { problems, running } = await runtime.schedules.describe("s");
    expect(problems).toMatchObject([{ workflowId: "schedule:s", code: "SCHEDULE_INVALID", at: now }]);
    expect(running).toEqual([]);
    // a pause among the commands is carried out
    const isPaused = JSON.stringify(changes).includes("pause");
    expect(await startsOf(store, "s")).toEqual(isPaused ? [] : ["2026-01-01T01:00:00Z"]);
  });

  it.each([
    { spec: { ...hourly, every: -1 } },
    { spec: { workflow: "quick", cron: ["x"] } },
    { triggers: 5 },
    { name: 7 },
  ])("is told as damaged where no rule is left, hides no other schedule, and can be deleted: %j", async (changes) => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const damage = (snapshot: Snapshot | null): Snapshot | null =>
      snapshot?.workflowId === "schedule:s" && snapshot.input !== undefined
        ? { ...snapshot, input: { ...(snapshot.input as object), ...changes } as never, context: {}, activePaths: snapshot.activePaths }
        : snapshot;
    await scheduling({ store, drive: false }, environment).runtime.schedules.create("s", hourly);
    const seen = altered(store, { load: async (workflowId) => damage(await store.load(workflowId)) });
    const { runtime } = scheduling({ store: seen }, environment);
    const { schedules: all } = runtime;
    await all.create("other", hourly);
    await environment.advance(hour + minute);
    const damaged = { code: "SNAPSHOT_INVALID", message: expect.stringContaining('delete the schedule "s" and create it again') };
    for (const call of [all.describe("s"), all.pause("s"), all.trigger("s"), all.edit("s", { every: "2h" })])
      await expect(call).rejects.toMatchObject(damaged);
    expect((await all.list()).items.map(({ name }) => name)).toEqual(["other"]);
    expect(await startsOf(store, "other")).toHaveLength(1);
    await all.delete("s");
    const mended = scheduling({ store }, environment).runtime.schedules;
    expect(await mended.create("s", hourly)).toMatchObject({ status: "active" });
  });

  it("is read as it was where everything is right, also that of the first versions", () => {
    const triggers = [{ at: now, workflowId: "s@trigger-1" }];
    const backfills = [{ after: -1, to: now, overlap: "queue" }];
    const whole = { ...state, triggers, backfills, running: ["s@1"], queued: [now], commands: [{ type: "resume", at: now }] };
    expect(readState(whole)).toEqual(whole);
    expect(readState({ ...whole, triggers: [now] })).toEqual({ ...whole, triggers: [{ at: now, workflowId: "s@2026-01-01T00:00:00Z" }] });
  });

  it("is none without its lists", () => {
    expect(readState({ ...state, triggers: undefined })).toBeNull();
    expect(readState({ ...state, counts: 5 })).toBeNull();
    expect(readState({ ...state, name: 5 })).toBeNull();
    expect(readState(null)).toBeNull();
  });
});
