import { afterEach, describe, expect, it } from "vitest";
import type { BulkAction } from "../../src/runtime/bulk/bulk.ts";
import type { SchedulesPart } from "../../src/runtime/context/schedule-host.ts";
import type { Run } from "../../src/runtime/handle/run.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { schedules } from "../../src/schedules/schedules.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { webhook } from "../../src/webhooks/webhook.ts";
import { secret, signed } from "../webhooks/signing.fixture.ts";
import { closeAll, hour, minute, quick, scheduling, second, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

const hourly = { workflow: "quick", every: "1h" };
const edit = { type: "edit", at: Date.UTC(2026, 0, 1), changes: { workflow: "strict", every: "1s" } };

/** What everybody who has a handle of a schedule might try, and what `runtime.schedules` has instead. */
const moves: readonly [string, (run: Run, runtime: Runtime) => Promise<unknown>, string][] = [
  ["signal it as the runtime does", (run) => run.signal("schedule", edit), "edit"],
  ["signal it under a key of its own", (run) => run.signal("schedule", edit, { idempotencyKey: "k", ttl: "1h" }), "edit"],
  ["tell it that an execution has ended", (run) => run.signal("schedule", { type: "ended", at: 1, workflowId: "nightly@x" }), "edit"],
  ["keep a signal for it that nobody knows", (run) => run.signal("other", 1, { key: "k" }), "edit"],
  ["answer its wait", (run) => run.resume({ payload: edit }), "edit"],
  ["answer its wait with a decision", (run) => run.resume({ payload: { action: "retry" } }), "edit"],
  ["answer its wait by name", (run) => run.resume({ step: "tick", payload: edit, by: "eve", idempotencyKey: "k" }), "edit"],
  ["cancel it", (run) => run.cancel({ reason: "no more" }), 'delete("nightly")'],
  ["cancel its only path", (run) => run.cancel({ step: "tick" }), 'delete("nightly")'],
  ["give it another name", (run) => run.setMetadata({ schedule: "other" }), 'edit("nightly")'],
  ["change other metadata", (run) => run.setMetadata({ team: "night" }, { idempotencyKey: "k" }), 'edit("nightly")'],
  ["fork it", (run) => run.fork({ version: 0 }), 'create("nightly")'],
  ["fork it with another input", (run) => run.fork({ workflowId: "mine", input: { name: "x" } }), 'create("nightly")'],
  ["fork it with another definition", (run) => run.fork({ definition: quick }), 'create("nightly")'],
  ["plan a fork", (run) => run.planFork({ node: "tick" }), 'create("nightly")'],
  ["restart it", (run) => run.restart({ keys: "new" }), 'create("nightly")'],
  ["restart it with another definition", (run) => run.restart({ definition: "quick" }), 'create("nightly")'],
  ["plan a restart", (run) => run.planRestart(), 'create("nightly")'],
  ["treat it as a map", (run) => run.addItem("tick", 1), "edit"],
  ["close it as a map", (run) => run.closeMap("tick"), "edit"],
  ["complete it as a map", (run) => run.completeMap("tick"), "edit"],
];

async function nightly() {
  const all = scheduling();
  await all.runtime.schedules.create("nightly", hourly, { tenant: "acme" });
  await all.environment.settle();
  const run = await all.runtime.get("schedule:nightly");
  const stored = async (): Promise<unknown> => all.store.load("schedule:nightly");
  return { ...all, run, stored, before: await stored() };
}

describe("the execution of a schedule", () => {
  it.each(moves)("is changed by nobody else: who tries to %s is told the call to use", async (_, move, use) => {
    const { runtime, environment, store, run, stored, before } = await nightly();
    await expect(move(run, runtime)).rejects.toMatchObject({
      code: "SCHEDULE_DENIED",
      message: expect.stringContaining("runtime.schedules."),
      details: { workflowId: "schedule:nightly", use: expect.stringContaining(use) },
    });
    expect(await stored()).toEqual(before);
    await environment.advance(hour + minute);
    expect(await startsOf(store, "nightly")).toEqual(["2026-01-01T01:00:00Z"]);
  });

  it.each(moves)("that has ended is not changed either: who tries to %s", async (_, move) => {
    const { runtime, environment, run, stored } = await nightly();
    await runtime.schedules.delete("nightly");
    await environment.settle();
    const ended = await stored();
    await expect(move(run, runtime)).rejects.toMatchObject({ code: "SCHEDULE_DENIED" });
    expect(await stored()).toEqual(ended);
  });

  it.each<BulkAction>([
    { action: "cancel" },
    { action: "retry" },
    { action: "signal", name: "schedule", payload: edit },
    { action: "restart" },
    { action: "fork", suffix: "x" },
    { action: "decide", decision: { action: "retry" } },
  ])("is refused by a bulk action, also by a plan of one: %j", async (action) => {
    const { runtime, environment, store } = await nightly();
    await runtime.schedules.create("failing", { workflow: "unknown", every: "1h" });
    await environment.advance(hour + second);
    await runtime.schedules.delete("nightly");
    const before = await Promise.all(["schedule:nightly", "schedule:failing"].map((id) => store.load(id)));
    for (const dryRun of [true, false])
      for await (const { workflowId, outcome, error } of runtime.bulk(action, { where: { idPrefix: "schedule:" }, dryRun }))
        expect({ workflowId, outcome, code: error?.code }).toEqual({ workflowId, outcome: "refused", code: "SCHEDULE_DENIED" });
    expect(await Promise.all(["schedule:nightly", "schedule:failing"].map((id) => store.load(id)))).toEqual(before);
  });

  it("is reached by no broadcast, whatever its key", async () => {
    const { runtime, stored, before } = await nightly();
    for (const key of ["schedule", "k", "nightly"])
      expect(await runtime.broadcast("schedule", edit, { key, where: { tenant: "acme" } })).toEqual({ reached: [], refused: [] });
    expect(await stored()).toEqual(before);
  });

  it("is reached by no node of a workflow, neither of its tenant nor of another one", async () => {
    const tell = { id: "tell", type: "sendSignal", data: { to: "schedule:nightly", name: "schedule", payload: edit } };
    const all = { ...tell, data: { all: true, name: "schedule", key: "schedule", payload: edit } };
    const workflows = [quick, { id: "tell", nodes: [tell], edges: [] }, { id: "all", nodes: [all], edges: [] }];
    const { runtime, environment, store } = scheduling({ workflows, may: () => true });
    await runtime.schedules.create("nightly", hourly, { tenant: "acme" });
    await environment.settle();
    const before = await store.load("schedule:nightly");
    const codes = [];
    for (const tenant of ["acme", "evil"]) {
      const run = await runtime.start("tell", { tenant });
      await environment.advance(second);
      codes.push((await run.snapshot()).error?.code);
      expect(await (await runtime.start("all", { tenant })).result()).toMatchObject({ reached: 0 });
    }
    expect(codes).toEqual(["SCHEDULE_DENIED", "WORKFLOW_NOT_FOUND"]);
    expect(await store.load("schedule:nightly")).toEqual(before);
  });

  it("is reached by no event of a service", async () => {
    const { runtime, stored, before } = await nightly();
    const handler = webhook(runtime, { secret, receive: ({ body }) => ({ signal: "schedule", to: "schedule:nightly", payload: body }) });
    const body = JSON.stringify(edit);
    const answer = await handler(new Request("https://here/hook", { method: "POST", body, headers: signed("evt-1", body) }));
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("SCHEDULE_DENIED");
    expect(await stored()).toEqual(before);
  });

  it("tries again what failed when an operator says so, and nothing else is decided for it", async () => {
    let isBroken = true;
    const part = schedules();
    const broken: SchedulesPart = {
      ...part,
      open(host) {
        const opened = part.open(host);
        const { executor, ...others } = opened.nodeDefinitions.schedule!;
        const failing: typeof executor = (data, step) => {
          if (isBroken) throw new RangeError("a fault of the library");
          return executor(data, step);
        };
        return { ...opened, nodeDefinitions: { schedule: { ...others, executor: failing } } };
      },
    };
    const { runtime, environment, store } = scheduling({ schedules: broken });
    await runtime.schedules.create("s", hourly);
    const run = await runtime.get("schedule:s");
    await environment.advance(hour);
    expect(await run.waits()).toMatchObject([{ kind: "incident" }]);
    for (const payload of [{ action: "skip", output: { name: "s" } }, { action: "fail" }, { action: "skip" }])
      await expect(run.resume({ payload })).rejects.toMatchObject({ code: "SCHEDULE_DENIED" });
    isBroken = false;
    await expect(run.resume({ payload: { action: "retry" } })).resolves.toEqual({ applied: true });
    await environment.advance(2 * hour);
    expect(await startsOf(store, "s")).toHaveLength(3);
  });

  it("that is parked goes on after a retry", async () => {
    const environment = virtualEnvironment();
    const { runtime, store } = scheduling({ drive: false }, environment);
    await runtime.schedules.create("s", hourly);
    // a store whose claims cannot leave what a process lacks to others
    const { taskQueues: _, ...features } = store.features;
    const lacking = scheduling({ store: { ...store, features }, schedules: undefined }, environment);
    await environment.advance(hour);
    const run = await runtime.get("schedule:s");
    expect(await run.snapshot()).toMatchObject({ status: "parked" });
    await lacking.runtime.close({ timeoutMs: 1 });
    await run.retry();
    expect(await run.snapshot()).toMatchObject({ status: expect.not.stringMatching("parked") });
  });
});
