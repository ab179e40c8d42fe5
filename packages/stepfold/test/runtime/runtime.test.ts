import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { calls, closeAll, hour, line, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

describe("an execution", () => {
  it("runs to its pause, is resumed, and gives its output", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk", { workflowId: "a", input: 1, metadata: { tenant: "x" } });
    await environment.settle();
    expect((await run.settled()).status).toBe("paused");
    expect(await run.resume({ step: "ask1", payload: { approved: true }, by: "ann" })).toEqual({ applied: true });
    await environment.settle();
    expect(await run.result()).toEqual({ text: "say" });
    expect((await run.snapshot()).metadata).toEqual({ tenant: "x" });
  });

  it("performs its retries when they are due, and not before", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("try");
    await environment.settle();
    expect(calls).toEqual(["attempt 1"]);
    await environment.advance(9 * second);
    expect(calls).toHaveLength(1);
    await environment.advance(1 * second + 10);
    expect(calls).toEqual(["attempt 1", "attempt 2"]);
    await environment.advance(19 * second);
    expect(calls).toHaveLength(2);
    await environment.advance(1 * second + 10);
    expect(await run.result()).toBe("done");
  });

  it("performs a retry at once when retry is called", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("try");
    await environment.settle();
    await run.retry();
    await environment.settle();
    expect(calls).toEqual(["attempt 1", "attempt 2"]);
  });

  it("sleeps for months without a process, and goes on in another one", async () => {
    const { runtime, environment, store } = setUp();
    const until = environment.now() + 90 * 24 * hour;
    const run = await runtime.start("nap", { workflowId: "long", input: { until } });
    await environment.settle();
    await runtime.close();
    await environment.advance(90 * 24 * hour);
    expect((await run.snapshot()).status).toBe("paused");
    const later = setUp({ store }, environment);
    await environment.advance(2 * second);
    expect(await (await later.runtime.get("long")).result()).toEqual({ text: "say" });
  });

  it("ends when it is cancelled, and aborts the step in flight", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("hang");
    await environment.settle();
    await run.cancel({ reason: "no longer needed" });
    await environment.settle();
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
    expect((await run.snapshot()).version).toBe(2);
    await expect(run.cancel()).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("is watched event by event, from any version on", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const { event, snapshot, activePaths } of run.watch()) {
        seen.push([event.type, snapshot.version]);
        if (activePaths.get("ask1")?.status === "suspended") {
          expect(activePaths.get("ask1")).toMatchObject({ suspendPayload: { text: "ask" }, stepPath: ["say0"] });
          await run.resume({ payload: { approved: true } });
        }
      }
    })();
    await environment.advance(5 * second);
    await watching;
    expect(seen).toEqual([
      ["started", 0],
      ["completed", 1],
      ["suspended", 2],
      ["resumed", 3],
      ["completed", 4],
      ["completed", 5],
    ]);
    const rest: number[] = [];
    for await (const { event } of run.watch({ after: 3 })) rest.push(event.version);
    expect(rest).toEqual([4, 5]);
  });

  it("rejects its result with the error when it failed", async () => {
    const { runtime, environment } = setUp({
      nodeDefinitions: { ...nodeDefinitions, say: defineNode({ executor: () => Promise.reject(new TypeError("broken")) }) },
    });
    const run = await runtime.start("talk");
    await environment.settle();
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED", details: { nodeId: "say0", message: "broken" } });
  });
});

describe("starting", () => {
  it("gives the existing execution when id and input are the same", async () => {
    const { runtime, environment } = setUp();
    const runs = await Promise.all(Array.from({ length: 20 }, () => runtime.start("talk", { workflowId: "once", input: { n: 1 } })));
    await environment.settle();
    expect(new Set(runs.map(({ workflowId }) => workflowId))).toEqual(new Set(["once"]));
    expect(calls).toEqual(["once/0#1"]);
  });

  it("refuses an id that was started with another input or workflow", async () => {
    const { runtime } = setUp();
    await runtime.start("talk", { workflowId: "once", input: 1 });
    await expect(runtime.start("talk", { workflowId: "once", input: 2 })).rejects.toMatchObject({
      code: "START_CONFLICT",
      details: { differs: "input" },
    });
    await expect(runtime.start("try", { workflowId: "once", input: 1 })).rejects.toMatchObject({
      code: "START_CONFLICT",
      details: { differs: "definition" },
    });
  });

  it("refuses unknown workflows", async () => {
    const { runtime } = setUp();
    await expect(runtime.start("tlak")).rejects.toMatchObject({ code: "DEFINITION_UNKNOWN" });
    await expect(runtime.get("nobody")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    await expect(runtime.start("talk", { workflowId: "" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(() => createRuntime({ store: memoryStore(), nodeDefinitions, leaseMs: 0 })).toThrow(StepfoldError);
  });

  it("goes on with the definition it was started with, whatever is deployed since", async () => {
    const { runtime, environment, store } = setUp();
    await runtime.start("talk", { workflowId: "old" });
    await environment.settle();
    await runtime.close();
    const edited = line("talk", "say", "ask", "flaky");
    const later = setUp({ store, workflows: [edited] }, environment);
    const run = await later.runtime.get("old");
    await run.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await run.result()).toEqual({ text: "say" });
  });
});

describe("answering", () => {
  it("applies one of many answers", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    await environment.settle();
    const answers = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => run.resume({ payload: { approved: true, n } })));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const answer of answers) if (answer.status === "rejected") expect(["WAIT_GONE", "EXECUTION_ENDED"]).toContain(answer.reason.code);
  });

  it("knows a repeated answer by its key, and refuses another answer under the same key", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    await environment.settle();
    const answer = { payload: { approved: true }, idempotencyKey: "click-1" };
    const both = await Promise.all([run.resume(answer), run.resume(answer)]);
    expect(both.map(({ applied }) => applied).sort()).toEqual([false, true]);
    await environment.settle();
    expect(await run.resume(answer)).toEqual({ applied: false });
    await expect(run.resume({ ...answer, payload: { approved: false } })).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
  });

  it("changes nothing when the answer is invalid", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    await environment.settle();
    const before = await run.snapshot();
    await expect(run.resume({ payload: { approved: "yes" } })).rejects.toMatchObject({
      code: "RESUME_INVALID",
      details: { issues: [{ pointer: "/approved" }] },
    });
    await expect(run.resume({ step: "say0", payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await expect(run.resume({ waitId: "0@99", payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    expect(await run.snapshot()).toEqual(before);
  });
});

describe("serverless", () => {
  it("advances an execution turn by turn, and says when it is due again", async () => {
    const { runtime, environment } = setUp({ drive: false });
    const run = await runtime.start("try", { workflowId: "t" });
    expect(calls).toEqual([]);
    expect(await runtime.advance("t")).toMatchObject({
      advanced: true,
      snapshot: { status: "error" },
      wakeAt: environment.now() + 10 * second,
    });
    expect(await runtime.advance("t")).toMatchObject({ advanced: false });
    await environment.advance(10 * second);
    await runtime.advance("t");
    await environment.advance(20 * second);
    expect(await runtime.advance("t")).toMatchObject({ advanced: true, snapshot: { status: "completed" }, wakeAt: null });
    expect(await run.result()).toBe("done");
    await expect(runtime.advance("nobody")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });
});
