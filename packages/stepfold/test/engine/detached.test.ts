import { describe, expect, it } from "vitest";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { flow } from "../nodes/workflow.fixture.ts";
import { viaJson } from "./engine.fixture.ts";
import { VirtualEnvironment } from "./virtual-environment.fixture.ts";

const inner = flow("inner", { work: ["set", { got: "{{ input }}" }] });
const outer = flow(
  "outer",
  {
    call: ["workflow", { workflow: "inner", detached: true, input: "{{ input }}" }],
    after: ["set", { after: "{{ $json }}" }],
    late: ["end", { output: "late" }],
  },
  ["call>after", "call>late@error"],
);

function engineOf(workflow: object, more: object = {}): WorkflowEngine<typeof builtinNodes> {
  return new WorkflowEngine({
    workflow,
    workflows: [inner],
    nodeDefinitions: builtinNodes,
    environment: new VirtualEnvironment(),
    ...more,
  });
}

describe("a detached workflow, without a runtime", () => {
  it("is a message in the snapshot, which you take to where executions begin", async () => {
    const engine = engineOf(outer);
    const asked = await engine.execute({ workflowId: "p", input: 5 });
    const [message] = asked.outbox!;
    expect(message).toEqual({
      id: "1.0",
      type: "start",
      descendants: 2_500,
      to: "p/0#1",
      definition: { id: "inner", hash: engineOf(inner).workflow.hash },
      input: 5,
      waitId: "0@2",
    });
    expect(asked).toMatchObject({ status: "paused", activePaths: [{ waits: [{ id: "0@2", kind: "child", workflowId: "p/0#1" }] }] });
    const begun = await engine.send(viaJson(asked), { type: "delivered", ids: [message!.id] });
    expect(begun).not.toHaveProperty("outbox");
    // only the end of the child moves the execution on
    expect(await engine.execute({ snapshot: begun })).toBe(begun);
    const child = await engineOf(inner).execute({ workflowId: message!.to, input: 5 });
    const told = await engine.send(viaJson(begun), {
      type: "endChild",
      workflowId: child.workflowId,
      waitId: "0@2",
      end: { status: "completed", output: child.output! },
    });
    expect(told).toMatchObject({ status: "active", activePaths: [{ resumed: { by: "child" } }] });
    expect(await engine.execute({ snapshot: viaJson(told) })).toMatchObject({ status: "completed", output: { after: { got: 5 } } });
  });

  it("leaves by the edge error with what it failed with, or because it was cancelled", async () => {
    const engine = engineOf(outer);
    const asked = await engine.execute({ workflowId: "p" });
    for (const [end, code] of [
      [{ status: "failed", error: { name: "Error", message: "no", code: "NO" } }, "NO"],
      [{ status: "cancelled" }, "EXECUTION_CANCELLED"],
    ] as const) {
      const told = await engine.send(asked, { type: "endChild", workflowId: "p/0#1", waitId: "0@2", end });
      const over = await engine.execute({ snapshot: told });
      expect(over).toMatchObject({ context: { call: [{ output: { code } }] }, output: "late" });
      // the message that starts the child has not been delivered, so the execution is not over yet
      expect(over).toMatchObject({ status: "active", activePaths: [], ending: { status: "completed" }, outbox: [{ type: "start" }] });
      expect(await engine.send(viaJson(over), { type: "delivered", ids: ["1.0"] })).toMatchObject({ status: "completed" });
    }
  });

  it("is begun anew, under another id, where it has failed and the policy of the node says so", async () => {
    const again = viaJson(outer) as unknown as { nodes: object[] };
    again.nodes[0] = { ...again.nodes[0], retryPolicy: { maxAttempts: 2, interval: 1, backoff: "fixed" }, timeout: "1h" };
    const engine = engineOf(again as never);
    const asked = await engine.execute({ workflowId: "p" });
    const end = { status: "failed", error: { name: "Error", message: "no", code: "NO" } } as const;
    const told = await engine.send(asked, { type: "endChild", workflowId: "p/0#1", waitId: "0@2", end });
    const failed = await engine.execute({ snapshot: told });
    expect(failed.activePaths).toMatchObject([{ status: "retrying", attempts: 1 }]);
    expect(failed.activePaths[0]).not.toHaveProperty("resumed");
    const [{ visit }] = failed.activePaths as unknown as [{ visit: number }];
    const second = await engine.send(failed, { type: "retry" });
    const waiting = await engine.execute({ snapshot: second });
    expect(waiting.activePaths).toMatchObject([{ status: "suspended", waits: [{ workflowId: `p/0#${visit}` }] }]);
  });

  it("is told to end when its time is over", async () => {
    const timed = viaJson(outer) as unknown as { nodes: object[] };
    timed.nodes[0] = { ...timed.nodes[0], timeout: "1h" };
    const engine = engineOf(timed as never);
    const asked = await engine.execute({ workflowId: "p" });
    const begun = await engine.send(asked, { type: "delivered", ids: [asked.outbox![0]!.id] });
    const { timeoutAt } = begun.activePaths[0]!.waits![0]!;
    const late = await engineOf(timed as never, { environment: new VirtualEnvironment(timeoutAt!) }).execute({ snapshot: begun });
    expect(late.outbox).toMatchObject([{ type: "cancel", to: "p/0#1", waitId: "0@2" }]);
    expect(late.context.call).toMatchObject([{ error: expect.stringContaining('Execution "p/0#1" had to end by') }]);
  });

  it("is told when nobody waits for it any more", async () => {
    const engine = engineOf(outer);
    const cancelled = await engine.send(await engine.execute({ workflowId: "p" }), { type: "cancel" });
    expect(cancelled).toMatchObject({
      status: "active",
      currentNodeId: "call",
      activePaths: [],
      ending: { status: "cancelled", nodeId: "call" },
      outbox: [
        { id: "1.0", type: "start" },
        { id: "2.0", type: "cancel", to: "p/0#1", waitId: "0@2" },
      ],
    });
    expect(await engine.execute({ snapshot: viaJson(cancelled) })).toEqual(cancelled);
    const once = await engine.send(viaJson(cancelled), { type: "delivered", ids: ["1.0", "9.9"] });
    expect(once).toMatchObject({ status: "active", outbox: [{ id: "2.0" }], version: 3 });
    const over = await engine.send(viaJson(once), { type: "delivered", ids: ["2.0"] });
    expect(over).toMatchObject({ status: "cancelled", currentNodeId: "call", version: 4 });
    expect(over).not.toHaveProperty("ending");
    expect(over).not.toHaveProperty("outbox");
  });

  it.each([
    [{ type: "endChild", workflowId: "another", waitId: "0@2", end: { status: "completed" } }, "WAIT_GONE"],
    [{ type: "endChild", workflowId: "p/0#1", waitId: "0@1", end: { status: "completed" } }, "WAIT_GONE"],
    [{ type: "endChild", workflowId: "p/0#1", waitId: "0@2", incarnation: "x", end: { status: "completed" } }, "WAIT_GONE"],
    [{ type: "endChild", workflowId: "p/0#1", waitId: "0@2", end: { status: "gone" } }, "OPTION_INVALID"],
    [{ type: "endChild", workflowId: "p/0#1", waitId: "0@2", end: null }, "OPTION_INVALID"],
    [{ type: "endChild", workflowId: "p/0#1", waitId: "0@2", end: { status: "failed", error: { message: 1 } } }, "OPTION_INVALID"],
    [{ type: "resume", payload: 1 }, "WAIT_GONE"],
    [{ type: "delivered", ids: ["0.0"] }, "OPTION_INVALID"],
    [{ type: "delivered", ids: null }, "OPTION_INVALID"],
    [{ type: "cancel", parent: { workflowId: "q", waitId: "0@2" } }, "WAIT_GONE"],
  ])("is not moved by %j", async (command, code) => {
    const engine = engineOf(outer);
    const asked = await engine.execute({ workflowId: "p" });
    const before = JSON.stringify(asked);
    await expect(engine.send(asked, command as never)).rejects.toMatchObject({ code });
    expect(JSON.stringify(asked)).toBe(before);
  });

  it("names a workflow that the engine was given, or its own", async () => {
    const unknown = await engineOf({ ...outer, edges: [], start: "call" }, { workflows: [] }).execute({});
    expect(unknown).toMatchObject({ status: "failed", error: { code: "DEFINITION_UNKNOWN" } });
    const own = flow("self", { call: ["workflow", { workflow: "self", detached: true }] });
    expect(await engineOf(own).execute({})).toMatchObject({ outbox: [{ type: "start", definition: { id: "self" } }] });
  });
});
