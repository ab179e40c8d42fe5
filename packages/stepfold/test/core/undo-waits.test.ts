import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { bench, flow } from "../nodes/workflow.fixture.ts";

const hour = 3_600_000;

/** An engine of a workflow with two paid steps; the compensation of each is an approval that waits for one hour. */
function paying(): ReturnType<typeof bench> {
  const made = flow("root", { pay: "noop", more: "noop", ask: "approval" }, ["pay>more", "more>ask"]) as { nodes: { id: string }[] };
  const compensate = { type: "approval", data: { timeout: "1h" } };
  return bench({ ...made, nodes: made.nodes.map((node) => (node.id === "ask" ? node : { ...node, compensate })) });
}

async function cancelled({ engine }: ReturnType<typeof bench>): Promise<Snapshot> {
  const waiting = await engine.execute({ workflowId: "w" });
  return engine.execute({ snapshot: await engine.send(waiting, { type: "cancel" }) });
}

describe("a step whose undoing waits for somebody", () => {
  it("is undone once that is answered", async () => {
    const running = paying();
    const asking = await cancelled(running);
    expect(asking).toMatchObject({ status: "paused", currentNodeId: "more", ending: { status: "cancelled" } });
    const next = await running.engine.execute({ snapshot: asking, externalPayload: { approved: true } });
    expect(next.compensations?.map(({ nodeId, error }) => [nodeId, error])).toEqual([["more", undefined]]);
    const over = await running.engine.execute({ snapshot: next, externalPayload: { approved: true } });
    expect(over).toMatchObject({ status: "cancelled", compensations: [{ nodeId: "more" }, { nodeId: "pay" }] });
    expect(over.error).toBeUndefined();
  });

  it("was not undone if nobody answers in time; the others are undone all the same, and the execution says so", async () => {
    const running = paying();
    const asking = await cancelled(running);
    running.clock.set(running.clock.now() + hour);
    const next = await running.engine.execute({ snapshot: asking });
    expect(next.compensations).toMatchObject([{ nodeId: "more", error: 'Node "more" was not answered in time' }]);
    expect(next).toMatchObject({ status: "paused", currentNodeId: "pay" });
    const over = await running.engine.execute({ snapshot: next, externalPayload: { approved: true } });
    expect(over).toMatchObject({
      status: "parked",
      error: { code: "COMPENSATION_FAILED", nodeId: "more" },
      ending: { status: "cancelled" },
    });
    // the compensation adds no result to the node
    expect(over.context.more).toHaveLength(1);
  });
});
