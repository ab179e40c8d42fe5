import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { bench, flow } from "../nodes/workflow.fixture.ts";

type Bench = ReturnType<typeof bench>;

/** `c` has paid, which can be undone, and runs `g`, whose map has one item done and one that waits; `c` and the root wait too. */
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

/** Somebody says no, and what follows from that has failed: what was done is being undone. */
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
