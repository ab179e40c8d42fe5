import { describe, expect, it } from "vitest";
import { viaJson } from "../../test/engine/engine.fixture.ts";
import { bench, flow, outputOf, type Step } from "../../test/nodes/workflow.fixture.ts";
import type { Json, JsonObject } from "../core/values/json.ts";

const minute = 60_000;

/** A workflow with a race and an edge for each of these handles. With `gated`, an approval comes before the race. */
function raceOf(data: Json, handles: readonly string[], gated = false): ReturnType<typeof bench> {
  const steps: Record<string, Step> = gated ? { gate: "approval" } : {};
  steps.r = ["race", data];
  for (const handle of handles) steps[`to-${handle}`] = ["end", { output: handle }];
  const edges = handles.map((handle) => `r>to-${handle}@${handle}`);
  return bench(flow("w", steps, gated ? ["gate>r@approved", ...edges] : edges));
}
const three: JsonObject = { signals: [{ name: "paid" }, { name: "revoked", handle: "cancelled" }], timer: { for: "1m" } };
const threeHandles = ["paid", "cancelled", "timer"];
const given = { winner: "paid", payload: 4 };

describe("race", () => {
  it("waits for all at once, on one path", async () => {
    const { engine, clock } = raceOf(three, threeHandles);
    const { status, activePaths } = await engine.execute({});
    expect([status, activePaths.length]).toEqual(["paused", 1]);
    expect(activePaths[0]?.waits).toMatchObject([
      { kind: "signal", signal: "paid" },
      { kind: "signal", signal: "revoked" },
      { kind: "timer", resumeAt: clock.now() + minute },
    ]);
  });

  it.each([
    ["paid", { amount: 4 }, "paid"],
    ["revoked", undefined, "cancelled"],
  ])("is won by the signal %s", async (name, payload, winner) => {
    const { engine, clock } = raceOf(three, threeHandles);
    let snapshot = await engine.send(viaJson(await engine.execute({})), { type: "signal", name, payload });
    clock.set(clock.now() + 2 * minute);
    snapshot = await engine.execute({ snapshot: viaJson(snapshot) });
    expect(snapshot).toMatchObject({ status: "completed", output: winner });
    expect(outputOf(snapshot, "r")).toEqual({ winner, payload: payload ?? null });
  });

  it("is won by the timer", async () => {
    const { engine, clock } = raceOf(three, threeHandles);
    const paused = await engine.execute({});
    clock.set(clock.now() + minute - 1);
    expect((await engine.execute({ snapshot: paused })).status).toBe("paused");
    clock.set(clock.now() + 1);
    const snapshot = await engine.execute({ snapshot: viaJson(paused) });
    expect([snapshot.output, outputOf(snapshot, "r")]).toEqual(["timer", { winner: "timer", payload: null }]);
  });

  it("keeps a signal that came second for who waits next", async () => {
    const { engine } = bench(
      flow("w", { r: ["race", { signals: [{ name: "a" }, { name: "b" }] }], next: ["signal", { name: "b" }] }, ["r>next@a", "r>next@b"]),
    );
    let snapshot = await engine.send(await engine.execute({}), { type: "signal", name: "a", payload: 1 });
    snapshot = await engine.execute({ snapshot: await engine.send(snapshot, { type: "signal", name: "b", payload: 2 }) });
    expect([snapshot.status, outputOf(snapshot, "r"), snapshot.output]).toEqual(["completed", { winner: "a", payload: 1 }, 2]);
  });

  it("is won by an answer, of which it says what it must look like", async () => {
    const answer = { handle: "answered", schema: { type: "object", required: ["price"] } };
    const { engine } = raceOf({ answer, timer: { for: "1m" } }, ["answered", "timer"]);
    const paused = await engine.execute({});
    expect(paused.activePaths[0]?.waits).toMatchObject([{ kind: "external", schema: answer.schema }, { kind: "timer" }]);
    expect((await engine.execute({ snapshot: paused })).status).toBe("paused");
    await expect(engine.execute({ snapshot: paused, externalPayload: {} })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    const snapshot = await engine.execute({ snapshot: paused, target: "r", externalPayload: { price: 3 } });
    expect([snapshot.output, outputOf(snapshot, "r")]).toEqual(["answered", { winner: "answered", payload: { price: 3 } }]);
  });

  it("takes an answer of nothing for one, and the default handle", async () => {
    const { engine } = raceOf({ signals: [{ name: "paid" }], answer: {} }, ["paid", "answer"]);
    const snapshot = await engine.execute({ snapshot: await engine.execute({}), externalPayload: undefined });
    expect([snapshot.output, outputOf(snapshot, "r")]).toEqual(["answer", { winner: "answer", payload: null }]);
  });

  it("is won at once by a signal that came before, also where the timer's moment has passed", async () => {
    const { engine } = raceOf({ ...three, timer: { until: "1970-01-01" } }, threeHandles, true);
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "paid", payload: 4 });
    const snapshot = await engine.execute({ snapshot: early, externalPayload: { approved: true } });
    expect(outputOf(snapshot, "r")).toEqual(given);
  });

  it("is won by a timer whose moment has passed where nothing has come", async () => {
    const { engine } = raceOf({ ...three, timer: { until: 0, handle: "overdue" } }, [...threeHandles, "overdue"]);
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: "overdue" });
  });

  it("does not count a transient signal that came before", async () => {
    const { engine } = raceOf({ signals: [{ name: "paid", transient: true }, { name: "revoked" }] }, ["paid", "revoked"], true);
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "paid", payload: 1 });
    let snapshot = await engine.execute({ snapshot: early, externalPayload: { approved: true } });
    expect(snapshot.status).toBe("paused");
    snapshot = await engine.send(snapshot, { type: "signal", name: "paid", payload: 4 });
    expect(outputOf(await engine.execute({ snapshot }), "r")).toEqual(given);
  });

  it("tells signals apart by key, where they lead the same way", async () => {
    const signals = ["x", "y"].map((key) => ({ name: "paid", key }));
    const { engine } = raceOf({ signals, timer: { for: "1m" } }, ["paid", "timer"]);
    let snapshot = await engine.send(await engine.execute({}), { type: "signal", name: "paid", payload: 1 });
    expect((await engine.execute({ snapshot })).status).toBe("paused");
    snapshot = await engine.send(snapshot, { type: "signal", name: "paid", key: "y", payload: 4 });
    expect(outputOf(await engine.execute({ snapshot }), "r")).toEqual(given);
  });

  it("withdraws what has lost", async () => {
    const { engine } = bench(
      flow("w", { r: ["race", { signals: [{ name: "paid" }], answer: {} }], ask: "approval" }, ["r>ask@paid", "r>ask@answer"]),
    );
    const paused = await engine.execute({});
    const waitId = paused.activePaths[0]!.waits!.find(({ kind }) => kind === "external")!.id;
    const signalled = await engine.send(paused, { type: "signal", name: "paid" });
    for (const snapshot of [signalled, await engine.execute({ snapshot: signalled })])
      await expect(engine.send(snapshot, { type: "resume", target: { waitId }, payload: 1 })).rejects.toMatchObject({ code: "WAIT_GONE" });
  });

  it("races again in every round of a loop", async () => {
    const { engine } = bench(
      flow("w", { r: ["race", { signals: [{ name: "more" }, { name: "stop" }] }], done: "end" }, ["r>r@more", "r>done@stop"], {
        start: "r",
      }),
    );
    let snapshot = await engine.execute({});
    for (const name of ["more", "more", "stop"])
      snapshot = await engine.execute({ snapshot: await engine.send(viaJson(snapshot), { type: "signal", name }) });
    expect(snapshot.status).toBe("completed");
    expect(snapshot.context.r?.map(({ output }) => output)).toMatchObject([{ winner: "more" }, { winner: "more" }, { winner: "stop" }]);
  });

  it("fails where the winner's handle has no edge", async () => {
    const { engine } = raceOf(three, ["paid"]);
    const snapshot = await engine.execute({ snapshot: await engine.send(await engine.execute({}), { type: "signal", name: "revoked" }) });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "HANDLE_UNKNOWN" } });
  });

  it.each<[Json, string]>([
    [{ signals: [{ name: "a" }, { name: "b" }], timer: { for: "soon" } }, "DURATION_INVALID"],
    [{ signals: [{ name: "a" }], timer: { until: "tomorrow" } }, "MOMENT_INVALID"],
    [{ signals: [{ name: "a" }], timer: { for: "20000 days" } }, "LIMIT_EXCEEDED"],
    [{ signals: ["x", "y"].map((key) => ({ name: "a", key, handle: key })) }, "RACE_AMBIGUOUS"],
    [{ signals: "{{ input.hostile }}" }, "DATA_INVALID"],
    [{ signals: "{{ [input.hostile, input.hostile] }}" }, "DATA_INVALID"],
    [{ signals: [{ name: "a" }], timer: { for: "{{ input.missing }}" } }, "DATA_INVALID"],
  ])("fails with %j by %s, never retried", async (data, code) => {
    const { engine } = raceOf(data, []);
    const snapshot = await engine.execute({ input: { hostile: { name: ["a"], length: 2 } } });
    expect(snapshot).toMatchObject({ status: "failed", error: { code } });
    expect(snapshot.context.r).toHaveLength(1);
  });
});
