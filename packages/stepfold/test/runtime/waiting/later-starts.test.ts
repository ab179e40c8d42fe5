import { afterEach, describe, expect, it } from "vitest";
import { calls, closeAll, hour, line, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const begins = Date.UTC(2026, 0, 1);

describe("runtime.start with startAt", () => {
  it("performs the first node at this time, and not before", async () => {
    const { runtime, environment, store } = setUp({ workflows: [line("two", "say", "say")] });
    const run = await runtime.start("two", { workflowId: "w", input: 1, startAt: "2026-01-01T05:00:00Z" });
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    expect((await run.explain()).sentence).toContain("2026-01-01T05:00:00.000Z");
    expect((await store.list()).items[0]).toMatchObject({ wakeAt: begins + 5 * hour, lease: null });
    await environment.advance(5 * hour - 1);
    expect(calls).toEqual([]);
    await environment.advance(hour);
    expect(await run.result()).toEqual({ text: "say" });
    expect(calls).toHaveLength(2);
    // a start with the same id, definition and input is the same execution, even with another time
    expect((await runtime.start("two", { workflowId: "w", input: 1, startAt: begins + 50 * hour })).workflowId).toBe("w");
  });

  it("is driven by another process, once", async () => {
    const { runtime, environment, store } = setUp({ drive: false, workflows: [line("two", "say", "say")] });
    await runtime.start("two", { workflowId: "w", startAt: begins + hour });
    await environment.advance(hour / 2);
    await runtime.close();
    setUp({ store, workflows: [] }, environment);
    await environment.advance(hour);
    expect(await store.load("w")).toMatchObject({ status: "completed" });
    expect(calls).toHaveLength(2);
  });

  it("can be cancelled before, and then performs nothing", async () => {
    const { runtime, environment } = setUp({ workflows: [line("two", "say", "say")] });
    const run = await runtime.start("two", { startAt: begins + hour });
    await run.cancel();
    await environment.advance(2 * hour);
    expect(await run.snapshot()).toMatchObject({ status: "cancelled" });
    expect(calls).toEqual([]);
  });

  it("begins at once where the time has passed, and is refused where it is none", async () => {
    const { runtime } = setUp({ workflows: [line("two", "say", "say")] });
    expect(await (await runtime.start("two", { startAt: 5 })).result()).toEqual({ text: "say" });
    await expect(runtime.start("two", { startAt: "soon" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(runtime.start("two", { startAt: "2999-01-01" })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });
});
