import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { FatalError } from "../../../src/engine/node/fatal-error.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { closeAll, setUp } from "../../runtime/runtime.fixture.ts";

afterEach(closeAll);

let isOpen = false;
const nodeDefinitions = {
  ...builtinNodes,
  refund: defineNode({
    executor: () => {
      if (!isOpen) throw new FatalError("the bank is closed");
      return { data: null };
    },
  }),
};
const workflow = {
  id: "w",
  nodes: [
    { id: "charge", type: "noop", compensate: { type: "refund" } },
    { id: "f", type: "fail", data: { message: "declined" } },
  ],
  edges: [{ source: "charge", target: "f" }],
};

async function resting(problems: unknown[] = []) {
  isOpen = false;
  const made = setUp({
    workflows: [workflow],
    nodeDefinitions,
    onProblem: (id: string | null, error: unknown) => problems.push([id, (error as { code: string }).code]),
  } as never);
  const run = await made.runtime.start("w", { workflowId: "order" });
  await made.environment.settle();
  return { ...made, run };
}

describe("B3: an execution in a store of which something could not be undone", () => {
  it("is parked for good, tells the runtime, and its result is known", async () => {
    const problems: unknown[] = [];
    const { store, run, environment } = await resting(problems);
    expect(problems).toEqual([["order", "EXECUTION_PARKED"]]);
    await environment.advance(3_600_000);
    expect((await store.list({ status: ["parked"] })).items).toMatchObject([{ workflowId: "order", currentNodeId: "charge" }]);
    await expect(run.result()).rejects.toMatchObject({
      code: "EXECUTION_FAILED",
      message: 'Execution "order" failed at node "f": declined; what was not undone: charge',
      details: { notUndone: ["charge"] },
    });
    expect(await run.settled()).toMatchObject({ status: "parked" });
  });

  it("ends once it could be undone after a retry", async () => {
    const { run, environment } = await resting();
    isOpen = true;
    await run.retry();
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({
      status: "failed",
      compensations: [{ error: "the bank is closed" }, { nodeId: "charge" }],
    });
    await expect(run.result()).rejects.toMatchObject({ message: 'Execution "order" failed at node "f": declined' });
    await expect(run.retry()).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("ends if somebody cancels it", async () => {
    const { run } = await resting();
    await run.cancel({ reason: "paid back by hand" });
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { notUndone: ["charge"] } });
    await expect(run.cancel()).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("tells the one that began it only then, which cannot give it up", async () => {
    isOpen = false;
    const parent = {
      id: "parent",
      nodes: [{ id: "child", type: "workflow", data: { workflow: "w", detached: true, workflowId: "order" } }],
      edges: [],
    };
    const { runtime, environment, store } = setUp({ workflows: [workflow, parent], nodeDefinitions } as never);
    const run = await runtime.start("parent", { workflowId: "p" });
    await environment.settle();
    expect((await store.load("order"))?.status).toBe("parked");
    expect((await run.snapshot()).status).toBe("paused");
    isOpen = true;
    await (await runtime.get("order"))!.retry();
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { message: "declined" } });
  });

  it("delivers its messages before it rests", async () => {
    isOpen = false;
    const child = { id: "child", nodes: [{ id: "ask", type: "approval" }], edges: [] };
    const both = {
      id: "both",
      nodes: [
        { id: "charge", type: "noop", compensate: { type: "refund" } },
        { id: "c", type: "workflow", data: { workflow: "child", detached: true, workflowId: "c" } },
        { id: "ask", type: "approval" },
      ],
      edges: [
        { source: "charge", target: "c" },
        { source: "charge", target: "ask" },
      ],
    };
    const { runtime, environment, store } = setUp({ workflows: [both, child], nodeDefinitions } as never);
    const run = await runtime.start("both", { workflowId: "both" });
    await environment.settle();
    await run.cancel();
    await environment.settle();
    expect((await store.load("c"))?.status).toBe("cancelled");
    expect(await run.snapshot()).toMatchObject({ status: "parked", ending: { status: "cancelled", again: [{ nodeId: "charge" }] } });
  });
});
