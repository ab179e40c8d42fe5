import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { SnapshotHead } from "../../../src/core/snapshot/snapshot.ts";
import type { JsonObject } from "../../../src/core/values/json.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, hour, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

let isBroken = false;
let charges = 0;
const nodeDefinitions = {
  ...builtinNodes,
  charge: defineNode({
    executor: (_data, step) => {
      charges++;
      if (isBroken) throw new Error("the card was refused");
      return { data: { paid: step.input } };
    },
  }),
};

/** The workflows of the detached children, one for each branch: `asking` waits, `charging` may fail, `quick` ends at once. */
const asking = flow("asking", { ask: "approval", done: ["end", { output: "answered" }] }, ["ask>done@approved"]);
const charging = flow("charging", { charge: "charge" });
const quick = flow("quick", { say: ["set", { quick: true }] });
const call = (workflow: string): readonly [string, JsonObject] => [
  "workflow",
  { workflow, detached: true, workflowId: `c-${workflow}`, input: 7 },
];
const parent = flow("parent", { ask: call("asking"), charge: call("charging"), quick: call("quick"), fork: "noop", join: "noop" }, [
  "fork>ask",
  "fork>charge",
  "fork>quick",
  "ask>join",
  "charge>join",
  "quick>join",
]);
const asker = flow("one", { ask: call("asking"), after: ["set", { got: "{{ $json }}" }] }, ["ask>after"]);
const single = flow("single", { charge: call("charging"), after: ["set", { got: "{{ $json }}" }] }, ["charge>after"]);

function bench() {
  isBroken = false;
  charges = 0;
  return setUp({ nodeDefinitions, workflows: [parent, single, asking, charging, quick] });
}

/** A store that another process uses: it deletes the child as soon as its head was read. */
function deletedAfterHead(store: SnapshotStore): SnapshotStore {
  const loadHead = async (workflowId: string): Promise<SnapshotHead | null> => {
    const head = await store.loadHead(workflowId);
    if (head && workflowId === "c-charging") await store.delete(workflowId);
    return head;
  };
  return { ...store, loadHead };
}

describe("the restart of an execution that waits for others", () => {
  it("restarts the execution whose failure made it fail, and waits for that", async () => {
    const { runtime, environment } = bench();
    isBroken = true;
    const run = await runtime.start("single", { workflowId: "p" });
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { message: "the card was refused" } });
    isBroken = false;
    expect((await run.planRestart()).children).toEqual([{ workflowId: "c-charging", status: "failed" }]);
    await run.restart();
    await environment.advance(second);
    expect(await run.result()).toEqual({ got: { paid: 7 } });
    const child = await runtime.get("c-charging");
    expect(await child.snapshot()).toMatchObject({
      status: "completed",
      restarts: 1,
      parent: { workflowId: "p", waitId: "0@2", depth: 1 },
    });
    expect(charges).toBe(2);
  });

  it("restarts those that were cancelled with it, and takes the output of those that had completed", async () => {
    const { runtime, environment } = bench();
    isBroken = true;
    const run = await runtime.start("parent", { workflowId: "p", initialNodeId: "fork" });
    await environment.advance(second);
    expect((await run.snapshot()).status).toBe("failed");
    expect(await (await runtime.get("c-asking")).snapshot()).toMatchObject({ status: "cancelled" });
    isBroken = false;
    await run.restart();
    await environment.advance(second);
    const waiting = await run.settled();
    expect(waiting.status).toBe("paused");
    expect(waiting.activePaths.map(({ nodeId, status }) => `${nodeId} ${status}`).sort()).toEqual(["ask suspended"]);
    await (await runtime.get("c-asking")).resume({ payload: { approved: true } });
    await environment.advance(second);
    expect((await run.snapshot()).status).toBe("completed");
    expect(charges).toBe(2);
  });

  it("goes on to wait for one that was restarted before it, and runs: its end is passed on", async () => {
    const { runtime, environment } = bench();
    const run = await runtime.start(asker as WorkflowDefinition, { workflowId: "p" });
    await environment.advance(second);
    await (await runtime.get("c-asking")).cancel();
    await environment.advance(second);
    expect((await run.snapshot()).status).toBe("failed");
    const child = await runtime.get("c-asking");
    await child.restart();
    await environment.advance(second);
    expect((await child.snapshot()).status).toBe("paused");
    expect((await run.planRestart()).children).toEqual([{ workflowId: "c-asking", status: "paused" }]);
    await run.restart();
    await environment.advance(second);
    await child.resume({ payload: { approved: true } });
    await environment.advance(second);
    expect(await run.result()).toEqual({ got: "answered" });
  });

  it("cancels what it has taken over with itself, and a restart of that restarts it too", async () => {
    const { runtime, environment } = bench();
    const run = await runtime.start(asker as WorkflowDefinition, { workflowId: "p" });
    await environment.advance(second);
    await (await runtime.get("c-asking")).cancel();
    await environment.advance(second);
    const child = await runtime.get("c-asking");
    await child.restart();
    await run.restart();
    await environment.advance(second);
    await run.cancel();
    await environment.advance(second);
    expect((await child.snapshot()).status).toBe("cancelled");
    await run.restart();
    await environment.advance(second);
    await child.resume({ payload: { approved: true } });
    await environment.advance(second);
    expect(await run.result()).toEqual({ got: "answered" });
    expect(await child.snapshot()).toMatchObject({ restarts: 2 });
  });

  it("starts a new one, under a new id, for one that was deleted", async () => {
    const named = flow("named", { charge: ["workflow", { workflow: "charging", detached: true, input: 7 }] });
    const { runtime, environment, store } = bench();
    isBroken = true;
    const run = await runtime.start(named as WorkflowDefinition, { workflowId: "p" });
    await environment.advance(second);
    const [before] = (await store.list({ definitionId: "charging" })).items;
    isBroken = false;
    await store.delete(before!.workflowId);
    expect((await run.planRestart()).children).toEqual([]);
    await run.restart();
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    const [after] = (await store.list({ definitionId: "charging" })).items;
    expect(after!.workflowId).not.toBe(before!.workflowId);
  });

  it("fails again, and is not parked, if the id that its definition gives to the child stays taken", async () => {
    const { runtime, environment, store } = bench();
    isBroken = true;
    const run = await runtime.start("single", { workflowId: "p" });
    await environment.advance(second);
    isBroken = false;
    await store.delete("c-charging");
    await run.restart();
    await environment.advance(hour);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { message: expect.stringContaining("c-charging") } });
  });

  it("passes on the end of a child whose restart is refused, whatever the reason", async () => {
    const gone = { ...charging, nodes: [{ id: "other", type: "charge" }] };
    const { runtime, environment, store } = bench();
    isBroken = true;
    const run = await runtime.start("single", { workflowId: "p" });
    await environment.advance(second);
    const child = await runtime.get("c-charging");
    const { definition } = await child.snapshot();
    expect(gone.nodes).toHaveLength(1);
    // the definition of the child is lost for every process that reads it from the store
    const lossy = { ...store, getDefinition: async (hash: string) => (hash === definition.hash ? null : store.getDefinition(hash)) };
    const second_ = setUp({ store: lossy, nodeDefinitions, workflows: [single] }, environment);
    await (await second_.runtime.get("p")).restart();
    await environment.advance(hour);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { message: "the card was refused" } });
    expect((await run.snapshot()).parked).toBeUndefined();
  });

  it("does not wait for one that is deleted while its end is read", async () => {
    const { runtime, environment, store } = bench();
    isBroken = true;
    const run = await runtime.start("single", { workflowId: "p" });
    await environment.advance(second);
    await runtime.close();
    const client = setUp({ store, nodeDefinitions, workflows: [single, charging], drive: false }, environment).runtime;
    await (await client.get("p")).restart();
    setUp({ store: deletedAfterHead(store), nodeDefinitions, workflows: [single, charging] }, environment);
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "WORKFLOW_NOT_FOUND" } });
  });

  it("is refused while one of them is coming to its end", async () => {
    const slow = {
      id: "undoing",
      nodes: [
        { id: "pay", type: "noop", compensate: { type: "wait", data: { for: "1h" } } },
        { id: "ask", type: "approval" },
      ],
      edges: [{ source: "pay", target: "ask" }],
    };
    const outer = flow("outer", { call: ["workflow", { workflow: "undoing", detached: true, workflowId: "c" }] });
    const { runtime, environment } = setUp({ nodeDefinitions, workflows: [outer, slow] });
    const run = await runtime.start("outer", { workflowId: "p" });
    await environment.advance(second);
    await run.cancel();
    await environment.advance(second);
    expect((await run.snapshot()).status).toBe("cancelled");
    const child = await (await runtime.get("c")).snapshot();
    expect(child.ending?.status).toBe("cancelled");
    await expect(run.restart()).rejects.toMatchObject({ code: "FORK_REFUSED", message: expect.stringContaining("still ending") });
  });

  it("sent twice restarts each of them once", async () => {
    const { runtime, environment, store } = bench();
    isBroken = true;
    const run = await runtime.start("single", { workflowId: "p" });
    await environment.advance(second);
    isBroken = false;
    await Promise.all([run.restart(), run.restart()]);
    await environment.advance(second);
    expect((await store.list()).items.map(({ workflowId }) => workflowId).sort()).toEqual(["c-charging", "p"]);
    expect(charges).toBe(2);
  });
});
