import { beforeEach, describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { apply } from "../../../src/core/transition/apply.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { FatalError } from "../../../src/engine/node/fatal-error.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

let said: unknown[] = [];
let isBroken = false;
beforeEach(() => {
  said = [];
  isBroken = false;
});

const nodeDefinitions = {
  ...builtinNodes,
  say: defineNode({
    executor: (data, step) => {
      said.push(data ?? step.nodeId);
      return { data: data ?? step.nodeId };
    },
  }),
  fragile: defineNode({
    executor: (_data, step) => {
      if (isBroken) throw new FatalError("it is broken");
      said.push(step.nodeId);
      return { data: step.nodeId };
    },
  }),
};
const last = {
  last: ["say", { end: "{{ execution.end.status }}", because: "{{ execution.end.error?.code }}", of: "{{ execution.end.output }}" }],
} as const;

/** A workflow with a step `work` and an approval `ask`; the node `last` runs at every kind of end. */
const asking = (more: object = {}, steps: object = {}, edges: readonly string[] = []): object =>
  flow(
    "w",
    { work: "say", ask: "approval", done: ["set", "the result"], no: ["fail", { message: "no", code: "NO" }], ...last, ...steps } as never,
    [...["work>ask", "ask>done@approved", "ask>no@rejected", ...edges]],
    { finally: "last", ...more },
  );

function engineOf(workflow: object) {
  const clock = new VirtualEnvironment();
  const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions, environment: clock });
  const go = async (request: object): Promise<Snapshot> => viaJson(await engine.execute(request as never)) as Snapshot;
  return { engine, clock, go };
}

describe("nodes that run at the end", () => {
  it("run when it has completed, and its output stays what it was", async () => {
    const { go } = engineOf(asking());
    const end = await go({ snapshot: await go({ workflowId: "x" }), externalPayload: { approved: true } });
    expect(end).toMatchObject({ status: "completed", output: "the result", currentNodeId: null });
    expect(end).not.toHaveProperty("closing");
    expect(said).toEqual(["work", { end: "completed", of: "the result" }]);
  });

  it("run when it has failed, after what it did was undone, and it has failed with that", async () => {
    const made = asking() as { nodes: { id: string }[] };
    const workflow = {
      ...made,
      nodes: made.nodes.map((node) => (node.id === "work" ? { ...node, compensate: { type: "say", data: "undone" } } : node)),
    };
    const { go } = engineOf(workflow);
    const end = await go({ snapshot: await go({ workflowId: "x" }), externalPayload: { approved: false } });
    expect(end).toMatchObject({ status: "failed", currentNodeId: "no", error: { code: "NO", nodeId: "no" } });
    expect(said).toEqual(["work", "undone", { end: "failed", because: "NO" }]);
  });

  it("run when it was cancelled, or was not done in time", async () => {
    const { engine, clock, go } = engineOf(asking({ timeout: "1h" }));
    const waiting = await go({ workflowId: "x" });
    const cancelled = await engine.send(waiting, { type: "cancel", reason: "enough" });
    expect(cancelled).toMatchObject({
      status: "active",
      closing: { status: "cancelled", error: { message: "enough" } },
      currentNodeId: "last",
    });
    expect(await go({ snapshot: viaJson(cancelled) })).toMatchObject({ status: "cancelled", error: { message: "enough" } });
    clock.set(clock.now() + 3_600_000);
    expect(await go({ snapshot: waiting })).toMatchObject({ status: "failed", error: { code: "EXECUTION_TIMED_OUT" } });
    expect(said.slice(1)).toEqual([
      { end: "cancelled", because: "EXECUTION_CANCELLED" },
      { end: "failed", because: "EXECUTION_TIMED_OUT" },
    ]);
  });

  it("may be a graph of its own, that forks, joins, retries and waits", async () => {
    const retryPolicy = { maxAttempts: 2, interval: "1m", backoff: "fixed" };
    const made = asking({}, { a: "say", b: "approval", both: "say" }, ["last>a", "last>b", "a>both", "b>both@approved"]) as {
      nodes: { id: string }[];
    };
    const workflow = { ...made, nodes: made.nodes.map((node) => (node.id === "both" ? { ...node, join: "all", retryPolicy } : node)) };
    const { engine, go } = engineOf(workflow);
    const closing = await go({ snapshot: await go({ workflowId: "x" }), externalPayload: { approved: true } });
    expect(closing).toMatchObject({ status: "paused", closing: { status: "completed", nodeId: null, output: "the result" } });
    expect(explain(closing, engine.workflow).sentence).toBe(
      'Completed; its "finally" nodes run: 2 places are open: 1 waits for an answer, 1 waits for other branches.',
    );
    expect(readSnapshot(closing, engine.workflow)).toEqual(closing);
    const end = await go({ snapshot: closing, externalPayload: { approved: true } });
    expect(end).toMatchObject({ status: "completed", output: "the result" });
    expect(said.slice(2)).toEqual(["a", "both"]);
  });

  it("may run sub-workflows and maps", async () => {
    const inner = { id: "inner", nodes: [{ id: "say", type: "say", data: "{{ execution.end.status }}" }], edges: [] };
    const { go } = engineOf(asking({ workflows: { inner } }, { each: ["map", { workflow: "inner", items: [1, 2] }] }, ["last>each"]));
    await go({ snapshot: await go({ workflowId: "x" }), externalPayload: { approved: false } });
    expect(said.slice(2)).toEqual(["failed", "failed"]);
  });

  it("make it fail if they fail, but for one that has failed already, and nothing is undone by that", async () => {
    isBroken = true;
    const made = asking({}, { last: "fragile" }) as { nodes: { id: string }[] };
    const workflow = {
      ...made,
      nodes: made.nodes.map((node) => (node.id === "work" ? { ...node, compensate: { type: "say", data: "undone" } } : node)),
    };
    const { go } = engineOf(workflow);
    const waiting = await go({ workflowId: "x" });
    const end = await go({ snapshot: waiting, externalPayload: { approved: true } });
    expect(end).toMatchObject({ status: "failed", error: { nodeId: "last", message: "it is broken" }, currentNodeId: "last" });
    expect(end.output).toBeUndefined();
    expect(said).toEqual(["work"]);
    const other = await go({ snapshot: waiting, externalPayload: { approved: false } });
    expect(other).toMatchObject({ status: "failed", error: { code: "NO" }, context: { last: [{ error: "it is broken" }] } });
  });

  it("are given up place by place, and not by a cancellation of the whole, which may come twice", async () => {
    const { engine, go } = engineOf(asking({}, { last: "approval" }));
    const closing = await go({ snapshot: await go({ workflowId: "x" }), externalPayload: { approved: true } });
    await expect(engine.send(closing, { type: "cancel" })).rejects.toMatchObject({
      code: "EXECUTION_ENDED",
      details: { status: "completed" },
    });
    expect(apply(engine.workflow, closing, { type: "cancelled", version: closing.version + 1, at: 0 })).toBe(closing);
    expect(await engine.send(closing, { type: "cancel", target: "last" })).toMatchObject({ status: "completed", output: "the result" });
  });

  it("run once, also where something could not be undone and is tried again", async () => {
    isBroken = true;
    const made = asking({}, { work: "say" }) as { nodes: { id: string }[] };
    const workflow = {
      ...made,
      nodes: made.nodes.map((node) => (node.id === "work" ? { ...node, compensate: { type: "fragile" } } : node)),
    };
    const { engine, go } = engineOf(workflow);
    const parked = await go({ snapshot: await go({ workflowId: "x" }), externalPayload: { approved: false } });
    expect(parked).toMatchObject({
      status: "parked",
      parked: { code: "COMPENSATION_FAILED" },
      ending: { status: "failed", error: { code: "NO" } },
    });
    isBroken = false;
    const end = await go({ snapshot: await engine.send(parked, { type: "retry" }) });
    expect(end).toMatchObject({ status: "failed", error: { code: "NO" } });
    expect(said).toEqual(["work", { end: "failed", because: "NO" }, "work"]);
  });

  it("run where nothing could begin, and may be stuck themselves", async () => {
    const held = { id: "held", type: "say", when: "{{ false }}" };
    const stuck = engineOf({ id: "w", nodes: [held, { id: "last", type: "say" }], edges: [], finally: "last" });
    expect(await stuck.go({ workflowId: "x" })).toMatchObject({ status: "failed", error: { code: "STALLED" } });
    expect(said.at(-1)).toBe("last");
    const endless = engineOf({
      id: "w",
      nodes: [
        { id: "a", type: "noop" },
        { ...held, id: "last" },
      ],
      edges: [],
      finally: "last",
    });
    expect(await endless.go({ workflowId: "x" })).toMatchObject({ status: "failed", error: { code: "STALLED" } });
  });

  it("have steps left where all are used up", async () => {
    const looping = flow("w", { work: "say", ...last } as never, ["work>work"], { finally: "last", start: "work" });
    const engine = new WorkflowEngine({ workflow: looping, nodeDefinitions, limits: { steps: 5 } });
    expect(await engine.execute({})).toMatchObject({ status: "failed", error: { code: "STEPS_EXCEEDED" } });
    expect(said.at(-1)).toMatchObject({ end: "failed", because: "STEPS_EXCEEDED" });
  });
});

describe("a definition with `finally`", () => {
  const issuesOf = (workflow: object, workflows: readonly object[] = []): unknown[] => {
    try {
      new WorkflowEngine({ workflow: workflow as never, workflows, nodeDefinitions });
      return [];
    } catch (error) {
      return (error as { details: { issues: { code: string; pointer: string }[] } }).details.issues.map(({ code, pointer }) => [
        code,
        pointer,
      ]);
    }
  };

  it("is another one than without, and begins at its other first node", () => {
    const hashOf = (more: object): string => engineOf(asking(more)).engine.workflow.hash;
    expect(hashOf({})).not.toBe(
      hashOf({
        finally: "other",
        nodes: [
          { id: "work", type: "say" },
          { id: "other", type: "say" },
        ],
        edges: [],
      }),
    );
    expect(engineOf(asking()).engine.workflow.starts).toEqual(["work"]);
    expect(engineOf(asking()).engine.warnings).toEqual([]);
  });

  it("is refused where it names no node, or one that other nodes lead to, or that is undone", () => {
    expect(issuesOf(asking({ finally: "lost" }))).toEqual([["FINALLY_INVALID", "/finally"]]);
    expect(issuesOf(asking({}, {}, ["done>last"]))).toEqual([["FINALLY_INVALID", "/nodes/4"]]);
    expect(issuesOf(asking({}, {}, ["last>done"]))).toEqual([["FINALLY_INVALID", "/nodes/2"]]);
    const undone = {
      id: "w",
      nodes: [
        { id: "a", type: "noop" },
        { id: "b", type: "noop", compensate: { type: "noop" } },
      ],
      edges: [],
      finally: "b",
    };
    expect(issuesOf(undone)).toEqual([["FINALLY_INVALID", "/nodes/1/compensate"]]);
    const { finally: _, ...slip } = undone;
    expect(issuesOf({ ...slip, finaly: "b" })).toContainEqual(["KEY_UNKNOWN", "/finaly"]);
  });

  it("is not run inside another one, by whatever name", async () => {
    const closing = {
      id: "closing",
      nodes: [
        { id: "a", type: "noop" },
        { id: "z", type: "noop" },
      ],
      edges: [],
      finally: "z",
    };
    const outer = (data: object): object => ({ id: "outer", nodes: [{ id: "run", type: "workflow", data }], edges: [] });
    expect(issuesOf(outer({ workflow: "closing" }), [closing])).toContainEqual(["FINALLY_INVALID", "/workflows/closing/finally"]);
    expect(issuesOf({ ...outer({ workflow: "closing" }), workflows: { closing } })).toContainEqual([
      "FINALLY_INVALID",
      "/workflows/closing/finally",
    ]);
    expect(issuesOf(outer({ workflow: "closing", detached: true }), [closing])).toEqual([]);
    const own = { ...closing, nodes: [{ id: "a", type: "workflow", data: { workflow: "closing" } }, closing.nodes[1]] };
    expect(issuesOf(own)).toEqual([["FINALLY_INVALID", "/nodes/0/data/workflow"]]);
    const computed = { ...own, nodes: [{ id: "a", type: "workflow", data: { workflow: "{{ input }}" } }, closing.nodes[1]] };
    expect(await engineOf(computed).go({ input: "closing" })).toMatchObject({ status: "failed", error: { code: "OPTION_INVALID" } });
  });
});
