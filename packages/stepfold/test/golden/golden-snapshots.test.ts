import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../src/core/explain/waits.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime/runtime.fixture.ts";
import snapshots from "./golden-snapshots.json" with { type: "json" };
import { goldenWorkflows } from "./golden-workflows.fixture.ts";

afterEach(closeAll);

/** The snapshots were made by the commit ae44369b, before executions had runs; `engine` without a store, all others with a runtime. */
const golden = snapshots as unknown as Readonly<Record<string, Snapshot>>;
const nodeDefinitions = { ...builtinNodes, flaky: { executor: () => ({ data: "done" }) } };
const workflowOf = (name: string) => goldenWorkflows[{ engine: "approval", restarted: "closing" }[name] ?? name]!;
const endings: readonly string[] = ["closing", "undoing"];
const names = Object.keys(golden).filter((name) => name !== "continued");

describe("a snapshot of the version before runs", () => {
  it.each(names)("opens and goes on to its end in an engine: %s", async (name) => {
    const environment = virtualEnvironment();
    const engine = new WorkflowEngine({ workflow: workflowOf(name), nodeDefinitions, environment });
    let snapshot = await engine.execute({ snapshot: golden[name]! });
    for (let turn = 0; turn < 20 && !["completed", "failed", "cancelled"].includes(snapshot.status); turn++) {
      const [wait] = waits(snapshot);
      await environment.advance(3_600_000);
      const payload = wait?.kind === "incident" ? { action: "retry" } : wait?.kind === "signal" ? 1 : { approved: true };
      if (wait?.id !== undefined && wait.kind !== "timer")
        snapshot = await engine.execute({ snapshot, target: { waitId: wait.id }, externalPayload: payload });
      else snapshot = await engine.execute({ snapshot });
    }
    expect(snapshot.status).toBe(endings.includes(name) ? "cancelled" : "completed");
  });

  it.each(names.filter((name) => !endings.includes(name)))("is adopted, and goes on to its end in a runtime: %s", async (name) => {
    const { runtime, environment } = setUp({ nodeDefinitions, workflows: Object.values(goldenWorkflows) });
    const run = await runtime.adopt(workflowOf(name).id, golden[name]!);
    for (let turn = 0; turn < 20; turn++) {
      await environment.advance(3_600_000);
      const { status } = await run.snapshot();
      if (["completed", "failed", "cancelled"].includes(status)) break;
      const [wait] = await run.waits();
      const payload = wait?.kind === "incident" ? { action: "retry" } : wait?.kind === "signal" ? 1 : { approved: true };
      if (wait?.id !== undefined && wait.kind !== "timer") await run.resume({ waitId: wait.id, payload });
    }
    expect((await run.snapshot()).status).toBe("completed");
  });

  it("that went on as another execution is refused, and says which snapshot to use", async () => {
    const engine = new WorkflowEngine({ workflow: workflowOf("continued"), nodeDefinitions });
    const refused = {
      code: "SNAPSHOT_INVALID",
      details: { pointer: "/continuedAs" },
      message: expect.stringContaining("Use the snapshot of"),
    };
    await expect(engine.execute({ snapshot: golden.continued! })).rejects.toMatchObject(refused);
    const { runtime } = setUp({ nodeDefinitions, workflows: Object.values(goldenWorkflows) });
    await expect(runtime.adopt("continued", golden.continued!)).rejects.toMatchObject(refused);
  });
});
