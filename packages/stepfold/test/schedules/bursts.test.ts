import { afterEach, describe, expect, it } from "vitest";
import { closeAll, hour, minute, scheduling, second, startsOf, tellable } from "./schedules.fixture.ts";

afterEach(closeAll);

const hourly = { workflow: "quick", every: "1h" };

describe.each([1, 3, 8, 40, 100_000])("with the limit of %d steps, a schedule", (steps) => {
  it("survives bursts of commands, each of which is carried out", async () => {
    const { runtime, store, environment } = scheduling({ limits: { steps } });
    await runtime.schedules.create("s", { ...hourly, input: 0 });
    let commands = 0;
    for (const burst of [1, 45, 19, 20, 120, 3]) {
      const sent = Array.from({ length: burst }, (_, i) =>
        i % 3 === 0 ? runtime.schedules.trigger("s") : runtime.schedules.edit("s", { input: ++commands }),
      );
      await environment.advance(second);
      await Promise.all(sent);
    }
    await environment.advance(minute);
    const triggered = [1, 45, 19, 20, 120, 3].reduce((sum, burst) => sum + Math.ceil(burst / 3), 0);
    expect(await runtime.schedules.describe("s")).toMatchObject({
      ...{ status: "active", generation: commands + 1, problems: [], running: [] },
      counts: { started: triggered, skipped: 0, missed: 0 },
    });
    expect(await startsOf(store, "s")).toHaveLength(triggered);
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toHaveLength(triggered + 1);
  });

  it("survives a burst of ends, and of reports about them", async () => {
    const { part, tell } = tellable();
    const { runtime, store, environment } = scheduling({ limits: { steps }, schedules: part });
    await runtime.schedules.create("s", { workflow: "slow", every: "1h", input: { for: "10m" } });
    await Promise.all(Array.from({ length: 80 }, () => runtime.schedules.trigger("s")));
    await environment.advance(minute);
    expect((await runtime.schedules.describe("s")).running).toHaveLength(80);
    await Promise.all(Array.from({ length: 80 }, (_, i) => tell("s", { type: "ended", at: 1, workflowId: `s@${i}` })));
    await environment.advance(12 * minute);
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "active", running: [], problems: [] });
    await environment.advance(hour);
    expect(await startsOf(store, "s")).toHaveLength(81);
  });

  it("survives ticks whose workflow no worker knows", async () => {
    const { runtime, environment, store } = scheduling({ limits: { steps } });
    await runtime.schedules.create("s", { workflow: "unknown", every: "10m" });
    await environment.advance(2 * hour);
    const { status, problems } = await runtime.schedules.describe("s");
    expect(status).toBe("active");
    expect(problems.length).toBeGreaterThanOrEqual(9);
    await runtime.schedules.edit("s", { workflow: "quick" });
    await environment.advance(30 * minute);
    expect((await startsOf(store, "s")).length).toBeGreaterThanOrEqual(2);
  });
});

it("begins its next run in time, so that its history can be trimmed", async () => {
  const { part, tell } = tellable();
  const { runtime, environment, store } = scheduling({ limits: { steps: 40 }, schedules: part });
  await runtime.schedules.create("s", hourly);
  for (let i = 0; i < 100; i++) {
    await tell("s", { type: "ended", at: 1, workflowId: "s@1" });
    await environment.advance(second);
  }
  const head = await store.loadHead("schedule:s");
  expect(head?.run?.number).toBeGreaterThanOrEqual(9);
});

it("carries out large edits, however many come at once", async () => {
  const { runtime, environment } = scheduling({ drive: false, limits: { valueBytes: 400_000 } });
  await runtime.schedules.create("s", hourly);
  for (let i = 0; i < 19; i++) await runtime.schedules.edit("s", { input: `${i}${"x".repeat(60_000)}` });
  runtime.work();
  await environment.advance(minute);
  const { generation, spec, problems } = await runtime.schedules.describe("s");
  expect({ generation, input: (spec.input as string).slice(0, 2), problems }).toEqual({ generation: 20, input: "18", problems: [] });
});
