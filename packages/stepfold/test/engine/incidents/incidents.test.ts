import { afterEach, describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import { waits } from "../../../src/core/explain/waits.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { closeAll, setUp } from "../../runtime/runtime.fixture.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

afterEach(closeAll);

let isBroken = true;
let done: string[] = [];
const nodeDefinitions = {
  ...builtinNodes,
  charge: defineNode({
    retryPolicy: { maxAttempts: 2, interval: 1, backoff: "fixed" },
    executor: (_data, step) => {
      done.push(`charge ${step.attempt}`);
      if (isBroken) throw new Error("the bank is closed");
      return { data: "charged" };
    },
  }),
  refund: defineNode({
    executor: (_data, step) => {
      const { idempotencyKey: _, ...what } = step.compensating!;
      done.push(`refund ${JSON.stringify(what)}`);
      return { data: null };
    },
  }),
  say: defineNode({ executor: (data) => ({ data }) }),
};
const order = (more: object = { incident: true }) => ({
  id: "order",
  nodes: [
    { id: "charge", type: "charge", ...more },
    { id: "ship", type: "say", data: "{{ nodes.charge.last.data }}" },
  ],
  edges: [{ source: "charge", target: "ship" }],
});

function engineOf(workflow: object) {
  isBroken = true;
  done = [];
  const clock = new VirtualEnvironment();
  const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions, environment: clock });
  const untilQuiet = async (from: object): Promise<Snapshot> => {
    let snapshot = (await engine.execute(from as never)) as Snapshot;
    while (snapshot.status === "error") {
      clock.set(clock.now() + 10);
      snapshot = await engine.execute({ snapshot: viaJson(snapshot) });
    }
    return snapshot;
  };
  return { engine, untilQuiet };
}

describe("a step with `incident: true` that has failed for good", () => {
  it("waits for a decision, with what failed, and can be read and explained", async () => {
    const { engine, untilQuiet } = engineOf(order());
    const snapshot = await untilQuiet({ workflowId: "w" });
    expect(snapshot).toMatchObject({ status: "paused", currentNodeId: "charge" });
    expect(waits(snapshot)).toMatchObject([
      {
        kind: "incident",
        address: "charge",
        payload: { attempt: 2, error: { message: "the bank is closed" } },
        answer: { type: "resume" },
      },
    ]);
    expect(explain(snapshot, engine.workflow).sentence).toContain("a decision about its failure, the bank is closed (retry, skip or fail)");
    expect(readSnapshot(viaJson(snapshot), engine.workflow)).toEqual(snapshot);
  });

  it("is refused as a snapshot from outside if it does not say what has failed", async () => {
    const { engine, untilQuiet } = engineOf(order());
    const snapshot = await untilQuiet({ workflowId: "w" });
    const [path] = snapshot.activePaths;
    const { payload, ...wait } = path!.waits![0]!;
    const { error } = payload as { error: object };
    for (const wrong of [undefined, {}, { attempt: 1 }, { error, attempt: 0 }, { error: "no", attempt: 1 }]) {
      const damaged = { ...snapshot, activePaths: [{ ...path, waits: [{ ...wait, ...(wrong && { payload: wrong }) }] }] };
      expect(() => readSnapshot(viaJson(damaged as never), engine.workflow), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({
          code: "SNAPSHOT_INVALID",
          details: expect.objectContaining({ pointer: expect.stringContaining("/payload") }),
        }),
      );
    }
  });

  it("is performed again with all its attempts, and may become an incident again", async () => {
    const { untilQuiet } = engineOf(order());
    const first = await untilQuiet({ workflowId: "w" });
    const again = await untilQuiet({ snapshot: first, externalPayload: { action: "retry" } });
    expect(again).toMatchObject({ status: "paused" });
    expect(waits(again)[0]!.id).not.toBe(waits(first)[0]!.id);
    isBroken = false;
    const ended = await untilQuiet({ snapshot: again, externalPayload: { action: "retry" } });
    expect(ended).toMatchObject({ status: "completed", output: "charged" });
    expect(done).toEqual(["charge 1", "charge 2", "charge 1", "charge 2", "charge 1"]);
  });

  it("is passed over with an output, or fails the execution as it would have", async () => {
    const { untilQuiet } = engineOf(order());
    const paused = await untilQuiet({ workflowId: "w" });
    const skipped = await untilQuiet({ snapshot: paused, externalPayload: { action: "skip", output: "by hand" } });
    expect(skipped).toMatchObject({ status: "completed", output: "by hand" });
    expect(skipped.context.charge!.at(-1)).toMatchObject({ output: "by hand" });
    const last = engineOf({ ...order(), nodes: [order().nodes[0]], edges: [] });
    const alone = await last.untilQuiet({ workflowId: "w" });
    expect(await last.untilQuiet({ snapshot: alone, externalPayload: { action: "skip" } })).toMatchObject({
      status: "completed",
      output: null,
    });
    const failed = await untilQuiet({ snapshot: paused, externalPayload: { action: "fail" } });
    expect(failed).toMatchObject({ status: "failed", error: { message: "the bank is closed", nodeId: "charge" } });
  });

  it("refuses an answer that is none", async () => {
    const { engine, untilQuiet } = engineOf(order());
    const paused = await untilQuiet({ workflowId: "w" });
    for (const externalPayload of [undefined, {}, { action: "give up" }, { action: "skip", outpt: 1 }])
      await expect(
        engine.execute({ snapshot: paused, externalPayload, target: "charge" }),
        JSON.stringify(externalPayload),
      ).rejects.toMatchObject({
        code: "RESUME_INVALID",
      });
  });

  it("is asked for by the whole workflow, unless the node says no; an error edge comes first", async () => {
    const whole = engineOf({ ...order({}), incident: true });
    expect(await whole.untilQuiet({ workflowId: "w" })).toMatchObject({ status: "paused" });
    const not = engineOf({ ...order({ incident: false }), incident: true });
    expect(await not.untilQuiet({ workflowId: "w" })).toMatchObject({ status: "failed" });
    const { edges } = order();
    const edge = engineOf({ ...order(), edges: [...edges, { source: "charge", target: "ship", sourceHandle: "error" }] });
    expect(await edge.untilQuiet({ workflowId: "w" })).toMatchObject({ status: "completed" });
    expect(() => engineOf(order({ incident: "yes" }))).toThrow(/incident/);
  });

  it("is undone if it was skipped or begun, as what it is", async () => {
    const both = { ...order({ incident: true, compensate: { type: "refund" } }), onFailure: "stop" };
    const { engine, untilQuiet } = engineOf({
      ...both,
      nodes: [...both.nodes, { id: "stop", type: "fail", data: { message: "no" } }],
      edges: [...both.edges, { source: "ship", target: "stop" }],
    });
    const paused = await untilQuiet({ workflowId: "w" });
    await untilQuiet({ snapshot: paused, externalPayload: { action: "skip", output: "by hand" } });
    expect(done.at(-1)).toBe('refund {"completed":true,"output":"by hand"}');
    const cancelled = await engine.send(paused, { type: "cancel" });
    await untilQuiet({ snapshot: cancelled });
    expect(done.at(-1)).toContain('refund {"completed":false');
  });

  it("holds up only its own path, also in an item of a map", async () => {
    const inner = { id: "inner", ...{ nodes: order().nodes, edges: order().edges } };
    const map = {
      id: "all",
      workflows: { inner },
      nodes: [{ id: "map", type: "map", data: { workflow: "inner", items: [1, 2] } }],
      edges: [],
    };
    const { untilQuiet } = engineOf(map);
    const paused = await untilQuiet({ workflowId: "w" });
    expect(waits(paused).map(({ address, kind }) => [address, kind])).toEqual([
      ["map[0]/charge", "incident"],
      ["map[1]/charge", "incident"],
    ]);
    isBroken = false;
    const one = await untilQuiet({ snapshot: paused, target: "map[0]/charge", externalPayload: { action: "retry" } });
    const ended = await untilQuiet({ snapshot: one, target: "map[1]/charge", externalPayload: { action: "skip", output: 0 } });
    expect(ended).toMatchObject({ status: "completed", output: ["charged", 0] });
  });

  it("is answered once in a runtime, also if two answer, and is kept whole by the store", async () => {
    const { runtime, environment, store } = setUp({ nodeDefinitions, workflows: [order()] });
    isBroken = true;
    const run = await runtime.start("order", { workflowId: "o" });
    await environment.advance(1_000);
    isBroken = false;
    const answers = await Promise.allSettled([
      run.resume({ step: "charge", payload: { action: "retry" }, by: "ada", idempotencyKey: "a" }),
      run.resume({ step: "charge", payload: { action: "skip" }, by: "bob", idempotencyKey: "b" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(answers.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "WAIT_GONE" } });
    expect(await run.result()).toBeOneOf(["charged", null]);
    expect(await store.load("o")).toEqual(await run.snapshot());
    const { hash } = (await run.snapshot()).definition;
    expect(await store.getDefinition(hash)).toMatchObject({ needs: ["incident"] });
  });
});
