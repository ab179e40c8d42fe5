import { afterEach, describe, expect, it } from "vitest";
import { closeAll, hour, second } from "../runtime.fixture.ts";
import { codeOf, effects, failing, plain, start, whatWasDone } from "./forks.fixture.ts";

afterEach(closeAll);

describe("run.restart", () => {
  it("goes on where the execution failed: what was done is not done again, and the step has all its attempts", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    effects.isBroken = true;
    expect(await run.restart()).toEqual({ applied: true, reason: "restarted" });
    const failed = codeOf(run.result());
    await environment.advance(5 * second);
    expect(await failed).toBe("EXECUTION_FAILED");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1", "fragile 2", "fragile 1", "fragile 2"]);
    effects.isBroken = false;
    await run.restart();
    expect(await run.result()).toBe("mended");
    const snapshot = await run.snapshot();
    expect(snapshot).toMatchObject({ status: "completed", input: { amount: 5 }, restarts: 2 });
    expect(snapshot.context.pay).toMatchObject([{ output: { paid: true } }]);
    // all attempts of one visit share a key, also after a restart
    expect(new Set(effects.done.map(({ key }) => key)).size).toBe(2);
  });

  it("uses new idempotency keys for the step that failed, if that is said", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const before = new Set(effects.done.map(({ key }) => key));
    await run.restart({ keys: "new" });
    expect(await run.result()).toBe("mended");
    const [, , , after] = effects.done;
    expect(after).toMatchObject({ what: "fragile 1" });
    expect(before).not.toContain(after!.key);
  });

  it("sent twice is one restart, and each call says what it found", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const [one, two] = await Promise.all([run.restart(), run.restart()]);
    expect([one, two]).toContainEqual({ applied: true, reason: "restarted" });
    expect([one, two]).toContainEqual({ applied: false, reason: "open" });
    expect(await run.result()).toBe("mended");
    expect(await run.restart()).toEqual({ applied: false, reason: "completed" });
    expect(whatWasDone().filter((what) => what.startsWith("pay"))).toHaveLength(1);
  });

  it("under one idempotency key is one restart, also if the execution has failed again meanwhile", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    effects.isBroken = true;
    await run.restart({ idempotencyKey: "click-1" });
    await environment.advance(5 * second);
    expect((await run.snapshot()).status).toBe("failed");
    expect(await run.restart({ idempotencyKey: "click-1" })).toEqual({ applied: false, reason: "repeated" });
    effects.isBroken = false;
    expect(await run.restart({ idempotencyKey: "click-2" })).toEqual({ applied: true, reason: "restarted" });
    expect(await run.result()).toBe("mended");
    expect(await run.snapshot()).toMatchObject({ restarts: 2 });
  });

  it("never ignores a definition: it is refused where an earlier call has restarted with another one", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const mended = { ...plain, nodes: [plain.nodes[0]!, { id: "send", type: "ask" }] };
    await run.restart();
    await expect(run.restart({ definition: mended })).rejects.toMatchObject({ code: "FORK_REFUSED" });
    expect(await run.result()).toBe("mended");
    await expect(run.restart({ definition: mended })).rejects.toMatchObject({ code: "FORK_REFUSED" });
    const other = await runtime.start("plain", { workflowId: "o-2", input: { amount: 6 } });
    await other.result();
    expect(await codeOf(other.restart({ definition: mended }))).toBe("FORK_REFUSED");
  });

  it("keeps the id for whoever waits for the execution, or starts it again", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    await run.restart();
    expect(await run.result()).toBe("mended");
    expect(await run.settled()).toMatchObject({ workflowId: "o-1", status: "completed", restarts: 1 });
    expect((await runtime.start("plain", { workflowId: "o-1", input: { amount: 5 } })).workflowId).toBe("o-1");
    expect(await codeOf(runtime.start("plain", { workflowId: "o-1", input: { amount: 6 } }))).toBe("START_CONFLICT");
  });

  it("is refused for an execution that was deleted, and options that are none", async () => {
    const { runtime, environment, store } = start();
    const run = await failing(runtime, environment, "plain");
    for (const options of [{ key: "same" }, { keys: "old" }, { compensated: "never" }, { idempotencyKey: "" }])
      expect(await codeOf(run.restart(options as never))).toMatch(/^OPTION_/);
    await store.delete("o-1");
    expect(await codeOf(run.restart())).toBe("WORKFLOW_NOT_FOUND");
  });

  it("asks what is to become of steps that were undone", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1", "fragile 2", "refund"]);
    await expect(run.restart()).rejects.toMatchObject({ code: "RESTART_COMPENSATED", details: { nodes: ["pay"] } });
    effects.done = [];
    await run.restart({ compensated: "again" });
    expect(await run.result()).toBe("mended");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1"]);
  });

  it("counts steps that were undone as done, if that is said", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    effects.done = [];
    await run.restart({ compensated: "keep" });
    expect(await run.result()).toBe("mended");
    expect(whatWasDone()).toEqual(["fragile 1"]);
  });

  it("undoes what was taken over, if it fails again", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    effects.done = [];
    effects.isBroken = true;
    await run.restart({ compensated: "keep" });
    const failed = codeOf(run.result());
    await environment.advance(5 * second);
    expect(await failed).toBe("EXECUTION_FAILED");
    expect(whatWasDone()).toEqual(["fragile 1", "fragile 2", "refund"]);
  });

  it("gives a wait that was not answered its whole time again", async () => {
    const { runtime, environment } = start();
    const run = await runtime.start("late", { workflowId: "l" });
    const failed = codeOf(run.result());
    await environment.advance(2 * hour);
    expect(await failed).toBe("EXECUTION_FAILED");
    await environment.advance(5 * hour);
    const [before] = (await run.snapshot()).context.ask ?? [];
    expect(before).toMatchObject({ error: expect.any(String) });
    await run.restart();
    const [path] = (await run.snapshot()).activePaths;
    expect(path!.waits![0]!.timeoutAt! - environment.now()).toBe(hour);
    await run.resume({ payload: { approved: true } });
    expect(await run.result()).toBe("said");
  });

  it("is refused for what has not ended, and for what has completed", async () => {
    const { runtime } = start();
    const open = await runtime.start("talk", { workflowId: "open" });
    await open.settled();
    await expect(open.restart()).rejects.toMatchObject({ code: "FORK_REFUSED", message: expect.stringContaining("it is paused") });
    const run = await runtime.start("plain", { workflowId: "good" });
    await run.result();
    await expect(run.restart()).rejects.toMatchObject({ code: "FORK_REFUSED", message: expect.stringContaining("it has completed") });
  });

  it("goes on with a mended definition, and is refused where that lacks the node", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const other = { ...plain, nodes: [plain.nodes[0]!, { id: "post", type: "fragile" }], edges: [{ source: "pay", target: "post" }] };
    expect(await codeOf(run.restart({ definition: other }))).toBe("DEFINITION_CHANGED");
    const mended = { ...plain, nodes: [plain.nodes[0]!, { id: "send", type: "say", data: "by post" }] };
    await run.restart({ definition: mended });
    expect(await run.result()).toBe("by post");
    // the definition of the start stays that of the first event
    expect((await runtime.start("plain", { workflowId: "o-1", input: { amount: 5 } })).workflowId).toBe("o-1");
  });
});
