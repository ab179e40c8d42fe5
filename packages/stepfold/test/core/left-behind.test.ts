import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { bench, flow } from "../nodes/workflow.fixture.ts";

type Bench = ReturnType<typeof bench>;

/**
 * An execution whose child `c` has paid (with a compensation) and runs `g`. The map of `g` has one item that is done and one that waits.
 * `c` and the root wait for approvals too.
 */
async function nested(): Promise<Pick<Bench, "engine"> & { readonly snapshot: Snapshot }> {
  const bad = ["fail", { message: "no" }] as const;
  const item = flow("item", { ask: "approval" });
  const g = flow("g", { m: ["map", { workflow: "item", items: [1, 2] }] });
  const c = flow("c", { pay: "noop", inner: ["workflow", { workflow: "g" }], check: "approval", bad }, [
    "pay>inner",
    "pay>check",
    "check>bad@rejected",
  ]) as { nodes: object[] };
  c.nodes[0] = { ...c.nodes[0], compensate: { type: "noop" } };
  const root = flow(
    "root",
    { f: "noop", sub: ["workflow", { workflow: "c" }], last: "approval", bad },
    ["f>sub", "f>last", "last>bad@rejected"],
    {
      workflows: { c, g, item },
    },
  );
  const { engine } = bench(root);
  const begun = await engine.execute({ workflowId: "w" });
  const snapshot = await engine.execute({ snapshot: begun, target: "sub/inner/m[0]/ask", externalPayload: { approved: true } });
  return { engine, snapshot };
}

/** Answers an approval with no. The step after it fails, so the completed steps are being undone. */
async function rejected({ engine, snapshot }: Awaited<ReturnType<typeof nested>>, target: string): Promise<Snapshot> {
  const answered = await engine.execute({ snapshot, target, externalPayload: { approved: false }, stepLimit: 1 });
  return engine.execute({ snapshot: answered, stepLimit: 1 });
}

describe("items that have ended, in a child that is let go of because everything around it stops", () => {
  it("go with it, so the snapshot can be loaded while what was done is being undone", async () => {
    const execution = await nested();
    const undoing = await rejected(execution, "last");
    expect(undoing.ending?.status).toBe("failed");
    expect(readSnapshot(JSON.parse(JSON.stringify(undoing)), execution.engine.workflow)).toEqual(undoing);
  });

  it("go with it, so the execution can be cancelled while a child undoes what it did", async () => {
    const execution = await nested();
    const undoing = await rejected(execution, "sub/check");
    expect(undoing.childStates?.["0#2"]?.ending?.status).toBe("failed");
    const cancelled = await execution.engine.send(undoing, { type: "cancel" });
    expect(cancelled.ending?.status ?? cancelled.status).toBe("cancelled");
  });
});

describe("an item in which a sub-workflow undoes what it did, of a map that is done early", () => {
  /** The first item has paid, and its sub-workflow waits for an approval to undo its booking. The second item waits for its approval. */
  async function undoingItem(): Promise<Pick<Bench, "engine"> & { readonly snapshot: Snapshot }> {
    const inner = flow("inner", { book: "noop", no: ["fail", { message: "full" }] }, ["book>no"]) as { nodes: object[] };
    inner.nodes[0] = { ...inner.nodes[0], compensate: { type: "approval" } };
    const item = flow("item", { ask: "approval", pay: "noop", trip: ["workflow", { workflow: "inner" }] }, [
      "ask>pay@approved",
      "pay>trip",
    ]) as { nodes: object[] };
    item.nodes[1] = { ...item.nodes[1], compensate: { type: "noop" } };
    const map = ["map", { workflow: "item", items: [1, 2], completeWhen: 1, remaining: "cancel" }] as const;
    const { engine } = bench(flow("root", { m: map, after: "approval" }, ["m>after"], { workflows: { item, inner } }));
    const begun = await engine.execute({ workflowId: "w" });
    const snapshot = await engine.execute({ snapshot: begun, target: "m[0]/ask", externalPayload: { approved: true } });
    return { engine, snapshot };
  }

  it("undoes all that it did, and is cancelled then", async () => {
    const { engine, snapshot } = await undoingItem();
    expect(snapshot.childStates?.["0#1/0>0#5"]?.ending?.status).toBe("failed");
    const done = await engine.execute({ snapshot, target: "m[1]/ask", externalPayload: { approved: false } });
    expect(readSnapshot(JSON.parse(JSON.stringify(done)), engine.workflow)).toEqual(done);
    expect(done.activePaths).toMatchObject([{ nodeId: "after" }, { nodeId: "m", draining: true }]);
    expect(done.childStates?.["0#1/0"]).toMatchObject({ status: "paused", ending: { status: "cancelled", nodeId: "trip" } });
    const undone = await engine.execute({ snapshot: done, target: "0#1/0>undo@2", externalPayload: { approved: true } });
    expect(undone.activePaths).toMatchObject([{ nodeId: "after" }]);
    expect(undone.compensations?.map(({ nodeId, undoes }) => [nodeId, undoes.scope])).toEqual([
      ["book", "0#1/0>0#5"],
      ["pay", "0#1/0"],
    ]);
    const ended = await engine.execute({ snapshot: undone, externalPayload: { approved: true } });
    expect(ended.status).toBe("completed");
  });

  it("is undone with everything around it, if the execution is cancelled then", async () => {
    const { engine, snapshot } = await undoingItem();
    const done = await engine.execute({ snapshot, target: "m[1]/ask", externalPayload: { approved: false } });
    const cancelled = await engine.send(done, { type: "cancel" });
    expect(readSnapshot(JSON.parse(JSON.stringify(cancelled)), engine.workflow)).toEqual(cancelled);
    const undoing = await engine.execute({ snapshot: cancelled });
    const ended = await engine.execute({ snapshot: undoing, externalPayload: { approved: true } });
    expect(ended.status).toBe("cancelled");
    expect(ended.compensations?.map(({ nodeId }) => nodeId)).toEqual(["book", "pay"]);
  });
});
