import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Json } from "../core/values/json.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { systemEnvironment } from "../environment/system-environment.ts";
import { builtinNodes } from "./index.ts";

const start = Date.UTC(2026, 0, 31, 9);
const minute = 60_000;

function engineOf(data: Json, clock = (): number => Date.now()): WorkflowEngine<typeof builtinNodes> {
  const retryPolicy = { maxAttempts: 3, interval: 1, backoff: "fixed" };
  const workflow = { id: "w", nodes: [{ id: "pause", type: "wait", data, retryPolicy }], edges: [] };
  return new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes, environment: { ...systemEnvironment, now: clock } });
}
const run = (data: Json, input?: unknown): Promise<Snapshot> => engineOf(data).execute({ input });
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

describe("wait", () => {
  beforeEach(() => void vi.useFakeTimers({ now: start, toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  it.each<[Json, number]>([
    ["15m", 15 * minute],
    ["1h 30m", 90 * minute],
    ["PT5M", 5 * minute],
    [250, 250],
  ])("pauses for %j, and goes on when the time has come", async (duration, ms) => {
    const engine = engineOf({ for: duration });
    const paused = await engine.execute({});
    expect(paused.status).toBe("paused");
    expect(paused.activePaths[0]?.waits).toMatchObject([{ kind: "timer", resumeAt: start + ms }]);
    later(ms - 1);
    expect((await engine.execute({ snapshot: paused })).status).toBe("paused");
    later(1);
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "completed", output: null });
  });

  it.each<[Json, number]>([
    ["2026-01-31T10:00:00Z", start + 60 * minute],
    ["2026-01-31T10:00:00+01:00", start],
    ["2026-01-31T09:00:00.5Z", start + 500],
    ["2026-02-01", start + 15 * 60 * minute],
    [start + 7, start + 7],
  ])("waits until %j", async (until, at) => {
    const engine = engineOf({ until });
    const first = await engine.execute({});
    if (at > start) expect(first.activePaths[0]?.waits).toMatchObject([{ kind: "timer", resumeAt: at }]);
    later(at - start);
    expect(await engine.execute({ snapshot: first })).toMatchObject({ status: "completed", output: null });
  });

  it("goes on at once where the moment has passed, or there is nothing to wait for", async () => {
    expect(await run({ until: "2020-01-01" })).toMatchObject({ status: "completed", output: null });
    expect(await run({ for: 0 })).toMatchObject({ status: "completed", output: null });
  });

  it("takes the moment from an expression", async () => {
    const snapshot = await run({ until: "{{ input.at }}" }, { at: "2026-01-31T09:01:00Z" });
    expect(snapshot.activePaths[0]?.waits?.[0]?.resumeAt).toBe(start + minute);
  });

  it("is not ended by a payload", async () => {
    const engine = engineOf({ for: "1h" });
    const paused = await engine.execute({});
    await expect(engine.execute({ snapshot: paused, externalPayload: { now: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
  });

  it("trusts the timer, also on a machine whose clock is behind", async () => {
    const paused = await run({ for: "1h" });
    const ahead = engineOf({ for: "1h" }, () => start + 60 * minute);
    expect(await ahead.execute({ snapshot: paused })).toMatchObject({ status: "completed", output: null });
  });

  it.each<[Json, string]>([
    [{ for: "a while" }, "DURATION_INVALID"],
    [{ for: -5 }, "DURATION_INVALID"],
    [{ for: "1 month" }, "DURATION_INVALID"],
    [{ until: "tomorrow" }, "MOMENT_INVALID"],
    [{ until: "2026-02-01T10:00:00" }, "MOMENT_INVALID"],
    [{ until: "2026-13-45" }, "MOMENT_INVALID"],
    // AUDIT 15: dates that do not exist
    [{ until: "2026-02-30T09:00:00Z" }, "MOMENT_INVALID"],
    [{ until: "2026-02-29" }, "MOMENT_INVALID"],
    [{ until: "2026-04-31T00:00:00+02:00" }, "MOMENT_INVALID"],
    [{ until: "2026-01-31T24:30:00Z" }, "MOMENT_INVALID"],
    [{ until: "2026-01-31T10:00:00+24:00" }, "MOMENT_INVALID"],
    [{ until: -1 }, "MOMENT_INVALID"],
    [{ until: "" }, "MOMENT_INVALID"],
    [{ for: "20000 days" }, "LIMIT_EXCEEDED"],
  ])("refuses %j with %s, and does not try again", async (data, code) => {
    const snapshot = await run(data);
    expect(snapshot).toMatchObject({ status: "failed", error: { code } });
    expect(snapshot.context.pause).toHaveLength(1);
  });
});
