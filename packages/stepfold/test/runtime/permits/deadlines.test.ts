import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { workflowNode } from "../../../src/nodes/workflow.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, line, nodeDefinitions, restartAndForkInLine, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const concurrency = { key: "bank", limit: 1 };

/** A runtime in which one execution holds the only permit for 20 seconds. `performed` has the executions whose steps ran, in order. */
async function setUpLine({ hasQueue = false } = {}) {
  const performed: string[] = [];
  const environment = virtualEnvironment();
  const hold = defineNode({
    executor: async () => {
      await new Promise<void>((resolve) => void environment.after(20 * second, resolve));
      return { data: "held" };
    },
  });
  const note = defineNode({
    executor: (_data, { workflowId, nodeId }) => {
      performed.push(`${workflowId} ${nodeId}`);
      return { data: "done" };
    },
  });
  const workflows: WorkflowDefinition[] = [
    { ...line("holder", "hold"), concurrency },
    { ...line("patient", "note"), concurrency },
    { ...line("brief", "note"), concurrency, timeout: "5s" },
    { ...line("asking", "ask", "note"), concurrency, timeout: "5s" },
    { ...line("tidy", "note", "say"), concurrency, timeout: "5s", finally: "say1", edges: [] },
    {
      id: "parent",
      nodes: [{ id: "child", type: "workflow", data: { workflow: "brief", detached: true, workflowId: "{{ input.id }}-child" } }],
      edges: [],
    },
  ];
  const queue = hasQueue ? { queue: memoryQueue({ environment }) } : {};
  const options = { workflows, nodeDefinitions: { ...nodeDefinitions, hold, note, workflow: workflowNode }, ...queue };
  const whole = { ...setUp(options, environment), options, performed };
  const asking = await whole.runtime.start("asking", { workflowId: "asking" });
  await environment.advance(1);
  await whole.runtime.start("holder", { workflowId: "holder" });
  await environment.advance(1);
  return { ...whole, asking };
}

const timedOut = { status: "failed", error: { code: "EXECUTION_TIMED_OUT" } };

describe("an execution that waits for a permit", () => {
  it.each([false, true])("fails when its deadline passes, and the next one gets its turn (with a queue: %s)", async (hasQueue) => {
    const { environment, runtime, performed } = await setUpLine({ hasQueue });
    const brief = await runtime.start("brief", { workflowId: "brief" });
    await runtime.start("patient", { workflowId: "patient" });
    await environment.advance(4 * second);
    expect((await brief.snapshot()).status).toBe("active");
    await environment.advance(2 * second);
    expect(await brief.snapshot()).toMatchObject(timedOut);
    await environment.advance(16 * second);
    expect(performed).toEqual(["patient note0"]);
  });

  it("fails at its deadline in the middle of its steps, after an answer that came in time", async () => {
    const { environment, asking, performed } = await setUpLine();
    await environment.advance(second);
    const [wait] = (await asking.snapshot()).activePaths[0]!.waits!;
    await asking.resume({ waitId: wait!.id, payload: { approved: true } });
    await environment.advance(2 * second);
    expect((await asking.snapshot()).status).toBe("active");
    await environment.advance(3 * second);
    expect(await asking.snapshot()).toMatchObject(timedOut);
    expect(performed).toEqual([]);
  });

  it("waits for its turn with the steps that run at its end, although its deadline has passed", async () => {
    const { environment, runtime } = await setUpLine();
    const tidy = await runtime.start("tidy", { workflowId: "tidy" });
    await environment.advance(7 * second);
    const ending = await tidy.snapshot();
    expect(ending).toMatchObject({ status: "active", closing: { status: "failed" } });
    await environment.advance(6 * second);
    expect((await tidy.snapshot()).version).toBe(ending.version);
    await environment.advance(10 * second);
    expect(await tidy.snapshot()).toMatchObject({ ...timedOut, context: { say1: [{ output: { text: "say" } }] } });
  });

  it("tells its parent of its end, by a deadline or a cancellation", async () => {
    const { environment, runtime, performed } = await setUpLine();
    const late = await runtime.start("parent", { workflowId: "late", input: { id: "late" } });
    const cancelled = await runtime.start("parent", { workflowId: "cancelled", input: { id: "cancelled" } });
    await environment.advance(2 * second);
    await (await runtime.get("cancelled-child")).cancel();
    await environment.advance(2 * second);
    expect((await cancelled.snapshot()).status).toBe("failed");
    await environment.advance(3 * second);
    expect(await late.snapshot()).toMatchObject({ status: "failed" });
    expect(performed).toEqual([]);
  });

  it("tells its parent of its cancellation after the process died that cancelled it", async () => {
    const { environment, store, options, runtime } = await setUpLine();
    const parent = await runtime.start("parent", { workflowId: "parent", input: { id: "parent" } });
    await environment.advance(second);
    const mortal = dying(environment);
    const other = setUp({ ...options, store, drive: false }, mortal.environment as typeof environment).runtime;
    const cancelling = (await other.get("parent-child")).cancel();
    await environment.advance(1);
    mortal.die();
    void cancelling.catch(() => undefined);
    await environment.advance(3 * second);
    expect((await parent.snapshot()).status).toBe("failed");
  });

  it("waits in the line again after a restart and in a fork, until its new deadline", async () => {
    const { environment, runtime, performed } = await setUpLine();
    const brief = await runtime.start("brief", { workflowId: "brief" });
    await restartAndForkInLine(brief, environment);
    await environment.advance(20 * second);
    expect(performed).toEqual([]);
    await brief.restart();
    await environment.advance(2 * second);
    expect((await brief.snapshot()).status).toBe("completed");
  });

  it("fails at its deadline in a sweep, also in one that is told its id", async () => {
    const { environment, store, options, runtime } = await setUpLine();
    const ids = ["one", "two"];
    for (const workflowId of ids) await runtime.start("brief", { workflowId });
    // not waited for: time stands still meanwhile
    void runtime.close({ timeoutMs: 1 });
    const sweeping = setUp({ ...options, store, drive: false }, environment).runtime;
    await environment.advance(6 * second);
    for (const wakeUps of [[{ workflowId: "one" }], undefined]) {
      const sweep = sweeping.sweep(wakeUps ? { wakeUps } : {});
      await environment.advance(second);
      await sweep;
    }
    for (const id of ids) expect(await (await sweeping.get(id)).snapshot()).toMatchObject(timedOut);
  });
});
