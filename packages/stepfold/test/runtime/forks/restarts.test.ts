import { afterEach, describe, expect, it } from "vitest";
import { closeAll, hour, second } from "../runtime.fixture.ts";
import { codeOf, effects, failing, plain, start, whatWasDone } from "./forks.fixture.ts";

afterEach(closeAll);

describe("run.restart", () => {
  it("goes on where the execution failed: what was done is not done again, and the step has all its attempts", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    effects.isBroken = true;
    const restarted = await run.restart();
    expect(restarted.workflowId).toBe("o-1");
    const failed = codeOf(restarted.result());
    await environment.advance(5 * second);
    expect(await failed).toBe("EXECUTION_FAILED");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1", "fragile 2", "fragile 1", "fragile 2"]);
    effects.isBroken = false;
    const third = await restarted.restart();
    expect(third.workflowId).toBe("o-1");
    expect(await third.result()).toBe("mended");
    const snapshot = await third.snapshot();
    expect(snapshot).toMatchObject({ status: "completed", input: { amount: 5 }, restarts: 2 });
    expect(snapshot.context.pay).toMatchObject([{ output: { paid: true } }]);
    // all attempts of one visit share a key, also after a restart
    expect(new Set(effects.done.map(({ key }) => key)).size).toBe(2);
  });

  it("sent twice is one restart", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const [one, two] = await Promise.all([run.restart(), run.restart()]);
    expect([one.workflowId, two.workflowId]).toEqual(["o-1", "o-1"]);
    expect(await one.result()).toBe("mended");
    expect((await run.restart()).workflowId).toBe("o-1");
    expect(whatWasDone().filter((what) => what.startsWith("pay"))).toHaveLength(1);
  });

  it("is refused where its id is taken by an execution that is none", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    await runtime.start("talk", { workflowId: "o-1" });
    expect(await codeOf(run.restart())).toBe("START_CONFLICT");
    // the other execution with this id is not taken for the restart
    expect(await codeOf(run.result())).toBe("EXECUTION_FAILED");
  });

  it("is followed by whoever waits for the execution, or starts it again", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    expect((await run.latest()).workflowId).toBe("o-1");
    const restarted = await run.restart();
    expect(await run.result()).toBe("mended");
    expect(await run.settled()).toMatchObject({ workflowId: "o-1", status: "completed" });
    expect((await run.latest()).workflowId).toBe("o-1");
    expect((await runtime.start("plain", { workflowId: "o-1", input: { amount: 5 } })).workflowId).toBe(restarted.workflowId);
    expect(await codeOf(run.result({ follow: false }))).toBe("EXECUTION_FAILED");
    expect(await run.settled({ follow: false })).toMatchObject({ workflowId: "o-1", status: "failed" });
    expect((await runtime.start("plain", { workflowId: "o-1", input: { amount: 5 }, follow: false })).workflowId).toBe("o-1");
  });

  it("is not followed into an execution that another one with this id was restarted as", async () => {
    const { runtime, environment, store } = start();
    const run = await failing(runtime, environment, "plain");
    await (await run.restart()).result();
    await store.delete("o-1");
    expect(await codeOf(run.result())).toBe("WORKFLOW_NOT_FOUND");
  });

  it("asks what is to become of steps that were undone", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1", "fragile 2", "refund"]);
    await expect(run.restart()).rejects.toMatchObject({ code: "RESTART_COMPENSATED", details: { nodes: ["pay"] } });
    effects.done = [];
    expect(await (await run.restart({ compensated: "again" })).result()).toBe("mended");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1"]);
  });

  it("counts steps that were undone as done, if that is said", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    effects.done = [];
    expect(await (await run.restart({ compensated: "keep" })).result()).toBe("mended");
    expect(whatWasDone()).toEqual(["fragile 1"]);
  });

  it("undoes what was taken over, if it fails again", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    effects.done = [];
    effects.isBroken = true;
    const again = await run.restart({ compensated: "keep" });
    const failed = codeOf(again.result());
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
    const again = await run.restart();
    const [path] = (await again.snapshot()).activePaths;
    expect(path!.waits![0]!.timeoutAt! - environment.now()).toBe(hour);
    await again.resume({ payload: { approved: true } });
    expect(await again.result()).toBe("said");
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
    expect(await (await run.restart({ definition: mended })).result()).toBe("by post");
  });
});
