import { afterEach, describe, expect, it } from "vitest";
import type { ScheduleSpec } from "../../src/runtime/context/schedules.ts";
import { at, closeAll, hour, minute, scheduling, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

/** Creates a schedule with a tick every ten minutes whose executions take 25 minutes, and lets an hour pass. */
async function overlapping(more: Partial<ScheduleSpec>) {
  const parts = scheduling();
  const spec = { workflow: "slow", every: "10m", input: { for: "25m" }, ...more };
  await parts.runtime.schedules.create("s", spec);
  await parts.environment.advance(hour + minute);
  return { ...parts, described: () => parts.runtime.schedules.describe("s") };
}

describe("a tick while an earlier execution still runs", () => {
  it("is skipped, where nothing is said", async () => {
    const { store, described } = await overlapping({});
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T00:10:00Z", "2026-01-01T00:40:00Z"]);
    expect(await described()).toMatchObject({
      counts: { started: 2, skipped: 4, missed: 0 },
      running: ["s@2026-01-01T00:40:00Z"],
      lastTick: at("01T01:00:00Z"),
      queued: [],
    });
  });

  it("waits for it with `queue`, and begins as soon as that has ended", async () => {
    const { store, environment, described } = await overlapping({ overlap: "queue", count: 4 });
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T00:10:00Z", "2026-01-01T00:20:00Z", "2026-01-01T00:30:00Z"]);
    expect((await store.load("s@2026-01-01T00:20:00Z"))!.createdAt! - at("01T00:35:00Z")).toBeLessThan(2_000);
    expect(await described()).toMatchObject({ queued: [at("01T00:40:00Z")], status: "active" });
    await environment.advance(hour);
    // the last queued tick starts its execution, and no tick follows
    expect(await startsOf(store, "s")).toHaveLength(4);
    expect(await described()).toMatchObject({ status: "ended", nextTicks: [] });
  });

  it("cancels it with `cancel`, and begins once that has ended", async () => {
    const { store, described } = await overlapping({ overlap: "cancel" });
    const starts = await startsOf(store, "s");
    expect(starts).toHaveLength(6);
    for (const id of starts.slice(0, -1)) expect((await store.load(`s@${id}`))?.status).toBe("cancelled");
    expect((await store.load(`s@${starts[0]}`))?.error?.message).toBe("schedule s starts its next execution");
    expect(await described()).toMatchObject({ running: [`s@${starts.at(-1)}`], counts: { started: 6 } });
  });

  it("begins at once with `allow`", async () => {
    const { store, described } = await overlapping({ overlap: "allow" });
    expect(await startsOf(store, "s")).toHaveLength(6);
    expect(await described()).toMatchObject({ running: [], counts: { started: 6, skipped: 0 } });
  });

  it("takes no more than a hundred ticks into the queue", async () => {
    const { environment, described } = await overlapping({ overlap: "queue", every: "1m", input: { for: "10 days" } });
    await environment.advance(2 * hour);
    const { queued, counts } = await described();
    expect(queued).toHaveLength(100);
    expect(counts.started).toBe(1);
    expect(counts.skipped).toBeGreaterThan(77);
  });
});

describe("a tick that nobody was there for", () => {
  it("is made up for within the window, and missed beyond it", async () => {
    const parts = scheduling({ drive: false });
    await parts.runtime.schedules.create("s", { workflow: "quick", every: "10m", overlap: "allow", catchUpWindow: "25m" });
    await parts.environment.advance(2 * hour + minute);
    const worker = parts.runtime.work();
    await parts.environment.advance(minute);
    expect(await startsOf(parts.store, "s")).toEqual(["2026-01-01T01:40:00Z", "2026-01-01T01:50:00Z", "2026-01-01T02:00:00Z"]);
    expect(await parts.runtime.schedules.describe("s")).toMatchObject({ counts: { started: 3, missed: 9 } });
    await worker.stop({ timeoutMs: 1 });
  });

  it("costs no more than a thousand looks, also after years", async () => {
    const parts = scheduling({ drive: false });
    await parts.runtime.schedules.create("s", { workflow: "quick", every: "1s", catchUpWindow: "10s", overlap: "allow" });
    await parts.environment.advance(3 * 365 * 24 * hour);
    parts.runtime.work();
    await parts.environment.advance(1_000);
    const { counts } = await parts.runtime.schedules.describe("s");
    expect(counts.started).toBeGreaterThan(9);
    expect(counts.started).toBeLessThan(14);
    expect(counts.missed).toBeGreaterThanOrEqual(1_000);
    expect((await parts.store.load("schedule:s"))!.version).toBeLessThan(40);
  });
});

describe("jitter", () => {
  it("spreads the starts of schedules, each by its name, and the ids keep the times of the ticks", async () => {
    const { runtime, environment, store } = scheduling();
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) await runtime.schedules.create(name, { workflow: "quick", every: "1h", jitter: "30m" });
    await environment.advance(2 * hour - minute);
    const begun = new Set<number>();
    for (const name of names) {
      expect(await startsOf(store, name)).toEqual(["2026-01-01T01:00:00Z"]);
      const { createdAt, scheduledBy } = (await store.load(`${name}@2026-01-01T01:00:00Z`))!;
      expect(createdAt! - at("01T01:00:00Z")).toBeLessThan(30 * minute + 1_000);
      expect(scheduledBy).toMatchObject({ schedule: name, at: at("01T01:00:00Z") });
      begun.add(createdAt!);
    }
    expect(begun.size).toBe(5);
  });
});
