import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const start = { start: "say", workflowId: "s@1", schedule: "s", at: 1, reports: false, input: 5 };
const nodes = {
  ...builtinNodes,
  send: defineNode({ executor: (sends: unknown) => ({ data: "sent", __sends: sends as never }) }),
  last: defineNode({ executor: (sends: unknown) => ({ data: "sent", terminate: true, __sends: sends as never }) }),
};
const sending = (data: unknown, more: object = {}) =>
  ({ id: "sending", nodes: [{ id: "send", type: "send", data, ...more }], edges: [] }) as never;
const say = { id: "say", nodes: [{ id: "say", type: "set", data: "{{ input }}" }], edges: [] };

function living() {
  return setUp({ nodeDefinitions: nodes as never, workflows: [say] });
}

describe("what a step sends", () => {
  it("starts executions that are no children of it, and ends them if they are of the schedule that is named", async () => {
    const { runtime, store, environment } = living();
    await runtime.start(sending([start, { ...start, workflowId: "s@2", metadata: { of: "s" } }]), { workflowId: "w", tenant: "acme" });
    await environment.settle();
    expect(await store.load("s@1")).toMatchObject({ output: 5, tenant: "acme", scheduledBy: { schedule: "s", workflowId: "w", at: 1 } });
    expect(await store.load("s@2")).toMatchObject({ metadata: { of: "s" } });
    expect(await store.load("w")).toMatchObject({ status: "completed", output: "sent" });
    const waiting = { id: "say", nodes: [{ id: "ask", type: "approval", data: {} }], edges: [] };
    await runtime.start(waiting, { workflowId: "mine" });
    await runtime.start(
      sending([
        { cancel: "mine", schedule: "s" },
        { cancel: "none", schedule: "s" },
      ]),
    );
    await environment.settle();
    expect((await store.load("mine"))?.status).toBe("paused");
  });

  it("goes along with the end of the execution too", async () => {
    const { runtime, store, environment } = living();
    await runtime.start({ id: "last", nodes: [{ id: "last", type: "last", data: [start] }], edges: [] } as never, { workflowId: "w" });
    await environment.settle();
    expect(await store.load("w")).toMatchObject({ status: "completed" });
    expect(await store.load("s@1")).toMatchObject({ status: "completed" });
  });

  it.each([
    [5, "must be a list"],
    [Array.from({ length: 101 }, () => start), "at most 100"],
    [[{ ...start, workflowId: "" }], "must name an execution"],
    [[{ cancel: 5, schedule: "s" }], "must name an execution"],
    [[{ ...start, metadata: 5 }], "object as metadata"],
    [[{ ...start, schedule: "" }], "schedule"],
    [[{ ...start, start: 5 }], "start"],
  ])("is refused where it is no list of such: %j", async (sends, message) => {
    const { runtime } = living();
    await expect((await runtime.start(sending(sends))).result()).rejects.toThrow(message);
  });

  it("is nothing for a sub-workflow, a compensation, or an engine without a runtime", async () => {
    const { runtime, environment, store } = living();
    const inner = sending([start]);
    const outer = { id: "outer", nodes: [{ id: "call", type: "workflow", data: { workflow: "inner" } }], edges: [], workflows: { inner } };
    await expect((await runtime.start(outer as never)).result()).rejects.toThrow("execution itself");
    const undone = {
      id: "undone",
      nodes: [
        { id: "first", type: "set", data: 1, compensate: { type: "send", data: [start] } },
        { id: "second", type: "fail", data: { message: "no" } },
      ],
      edges: [{ source: "first", target: "second" }],
    };
    await runtime.start(undone as never, { workflowId: "u" });
    await environment.settle();
    expect(await store.load("s@1")).toBeNull();
    const engine = new WorkflowEngine({ workflow: sending([start]), nodeDefinitions: nodes as never });
    expect((await engine.execute({})).error?.message).toContain("needs a runtime");
  });
});
