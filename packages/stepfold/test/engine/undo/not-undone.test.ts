import { beforeEach, describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import type { Warning } from "../../../src/core/snapshot/parts/warning.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { FatalError } from "../../../src/engine/node/fatal-error.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { viaJson } from "../engine.fixture.ts";

// A compensation that fails for good parks the execution, and can be tried again.

let broken: readonly unknown[] = [];
let undone: unknown[] = [];
let keys: string[] = [];
let warnings: Warning[] = [];
const nodeDefinitions = {
  ...builtinNodes,
  charge: defineNode({ executor: (data) => ({ data }) }),
  refund: defineNode({
    executor: (_data, step) => {
      const what = step.compensating?.completed ? step.compensating.output : "?";
      keys.push(step.idempotencyKey);
      if (broken.includes(what)) throw new FatalError("the bank is closed");
      undone.push(what);
      return { data: null };
    },
  }),
  ask: defineNode({ executor: (data, step) => (step.resumed ? { data } : step.suspend(data)) }),
};
const plugins = [{ onWarning: (warning: Warning) => warnings.push(warning) }];

function paying(
  steps: Parameters<typeof flow>[1],
  edges: readonly string[],
  more: object = {},
  compensate: object = { type: "refund" },
): object {
  const made = flow("w", steps, edges, more) as { nodes: { id: string; type: string }[] };
  return { ...made, nodes: made.nodes.map((node) => (node.type === "charge" ? { ...node, compensate } : node)) };
}

const engineOf = (workflow: object) => new WorkflowEngine({ workflow, nodeDefinitions, plugins });
const three = paying({ a: ["charge", "A"], b: ["charge", "B"], c: ["charge", "C"], f: ["fail", { message: "declined" }] }, [
  "a>b",
  "b>c",
  "c>f",
]);

async function told(
  engine: ReturnType<typeof engineOf>,
  snapshot: Snapshot,
  command: Parameters<typeof engine.send>[1],
): Promise<Snapshot> {
  return engine.execute({ snapshot: viaJson(await engine.send(viaJson(snapshot), command)) });
}

beforeEach(() => {
  [broken, undone, keys, warnings] = [[], [], [], []];
});

describe("B3: an execution of which something could not be undone", () => {
  it("rests at its end, says so everywhere, and keeps the rest from nothing", async () => {
    broken = ["B"];
    const engine = engineOf(three);
    const rests = await engine.execute({});
    expect(undone).toEqual(["C", "A"]);
    expect(rests).toMatchObject({
      status: "parked",
      currentNodeId: "b",
      error: { message: "declined", nodeId: "f", notUndone: ["b"] },
      parked: { code: "COMPENSATION_FAILED", message: 'The compensation of node "b" failed: the bank is closed' },
      ending: { status: "failed", again: [{ nodeId: "b" }] },
    });
    expect(explain(rests, engine.workflow).sentence).toBe(
      "Failed at f: declined; undone: c and a; not undone: b (the bank is closed) (COMPENSATION_FAILED). It can be tried again (retry) or given up (cancel).",
    );
    expect(warnings).toEqual([
      { code: "COMPENSATION_FAILED", nodeId: "b", message: 'The compensation of node "b" failed: the bank is closed' },
    ]);
    expect(await engine.execute({ snapshot: viaJson(rests) })).toEqual(rests);
  });

  it("performs it again after a retry, under the same key, and is over then", async () => {
    broken = ["B"];
    const engine = engineOf(three);
    const rests = await engine.execute({});
    const again = await told(engine, rests, { type: "retry" });
    expect(again).toMatchObject({ status: "parked", error: { notUndone: ["b"] } });
    broken = [];
    const over = await told(engine, again, { type: "retry", node: "b" });
    expect(over).toMatchObject({ status: "failed", currentNodeId: "f", error: { message: "declined" } });
    for (const gone of ["parked", "ending", "childStates"]) expect(over).not.toHaveProperty(gone);
    expect(over.error).not.toHaveProperty("notUndone");
    expect(undone).toEqual(["C", "A", "B"]);
    expect(new Set(keys).size).toBe(3);
    expect(over.compensations?.map(({ nodeId, error }) => [nodeId, error !== undefined])).toEqual([
      ["c", false],
      ["b", true],
      ["a", false],
      ["b", true],
      ["b", false],
    ]);
  });

  it("tries each of several once in a round", async () => {
    broken = ["A", "C"];
    const engine = engineOf(three);
    const rests = await engine.execute({});
    expect(rests.parked?.message).toBe('The compensation of node "c" failed, and 1 other compensation too: the bank is closed');
    broken = ["C"];
    const left = await told(engine, rests, { type: "retry" });
    broken = ["A", "B", "C"];
    expect((await engine.execute({})).parked?.message).toContain("and 2 other compensations too");
    undone = ["B", "A"];
    broken = ["C"];
    expect(left).toMatchObject({ status: "parked", error: { notUndone: ["c"] }, ending: { again: [{ nodeId: "c" }] } });
    broken = [];
    expect(await told(engine, left, { type: "retry" })).toMatchObject({ status: "failed" });
    expect(undone).toEqual(["B", "A", "C"]);
  });

  it("ends with that if it is given up", async () => {
    broken = ["B"];
    const engine = engineOf(three);
    const over = await told(engine, await engine.execute({}), { type: "cancel", reason: "done by hand" });
    expect(over).toMatchObject({ status: "failed", error: { message: "declined", notUndone: ["b"] } });
    for (const gone of ["parked", "ending", "activePaths.0"]) expect(over).not.toHaveProperty(gone);
    expect(explain(over, engine.workflow).sentence).toBe("Failed at f: declined; undone: c and a; not undone: b (the bank is closed).");
  });

  it("that was cancelled has an error only as long as something is not undone", async () => {
    const waiting = paying({ a: ["charge", "A"], q: "approval" }, ["a>q"]);
    const engine = engineOf(waiting);
    broken = ["A"];
    const rests = await told(engine, await engine.execute({}), { type: "cancel" });
    expect(rests).toMatchObject({
      status: "parked",
      error: { code: "COMPENSATION_FAILED", notUndone: ["a"] },
      ending: { status: "cancelled" },
    });
    const given = await told(engine, rests, { type: "cancel" });
    expect(given).toMatchObject({ status: "cancelled", error: { code: "COMPENSATION_FAILED", notUndone: ["a"] } });
    expect(explain(given).sentence).toBe("Cancelled; not undone: a (the bank is closed).");
    broken = [];
    const over = await told(engine, rests, { type: "retry" });
    expect(over.status).toBe("cancelled");
    expect(over).not.toHaveProperty("error");
  });

  it("says while it tries again that it does", async () => {
    broken = ["A"];
    const engine = engineOf(paying({ a: ["charge", "A"], q: "approval" }, ["a>q"]));
    const rests = await told(engine, await engine.execute({}), { type: "cancel" });
    const trying = await engine.send(rests, { type: "retry" });
    expect(explain(trying, engine.workflow).sentence).toBe("Cancelled; failed compensations are tried again: a is being undone.");
  });

  it("takes answers to compensations that wait, under another id in each round", async () => {
    const workflow = paying({ a: ["charge", "A"], q: "approval" }, ["a>q"], {}, { type: "approval", data: { timeout: "1m" } });
    const clock = { at: 0 };
    const environment = { now: () => clock.at, monotonicMs: () => clock.at, newId: () => "id", after: () => () => undefined };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions, environment });
    const waiting = await engine.execute({ snapshot: await engine.send(await engine.execute({}), { type: "cancel" }) });
    const [first] = waiting.activePaths[0]!.waits!;
    clock.at = 60_000;
    const rests = await engine.execute({ snapshot: viaJson(waiting) });
    expect(rests.status).toBe("parked");
    const again = await engine.execute({ snapshot: viaJson(await engine.send(rests, { type: "retry" })) });
    const [second] = again.activePaths[0]!.waits!;
    expect(second!.id).not.toBe(first!.id);
    expect(await engine.execute({ snapshot: again, externalPayload: { approved: true } })).toMatchObject({ status: "cancelled" });
  });
});

describe("B3: what could not be undone in a part of an execution", () => {
  const inner = paying({ pay: ["charge", "{{ input }}"], f: ["fail", { message: "no" }] }, ["pay>f"]);
  const workflows = { inner: { ...inner, id: "inner" } };
  const around = { sub: ["workflow", { workflow: "inner", input: "S" }], saved: "noop", last: ["charge", "L"] } as const;

  it("holds up nothing: the execution goes on, and rests at its end although it completed", async () => {
    broken = ["S"];
    const engine = engineOf(paying(around as never, ["sub>saved@error", "saved>last"], { workflows }));
    const rests = await engine.execute({});
    expect(rests).toMatchObject({ status: "parked", output: "L", ending: { status: "completed" }, childStates: { "0#1": { kept: true } } });
    expect(explain(rests, engine.workflow).sentence).toContain("Completed; not undone: pay (the bank is closed)");
    broken = [];
    const trying = explain(await engine.send(rests, { type: "retry" }), engine.workflow).sentence;
    expect(trying).toBe("Completed; failed compensations are tried again: pay is being undone.");
    const over = await told(engine, rests, { type: "retry" });
    expect(over).toMatchObject({ status: "completed", output: "L" });
    expect(over).not.toHaveProperty("childStates");
    expect(undone).toEqual(["S"]);
  });

  it("is tried again for every item of a map, also of one that is gone, once each", async () => {
    broken = ["y"];
    const steps = {
      m: ["map", { workflow: "inner", items: ["x", "y"], toleratedFailures: 2 }],
      f: ["fail", { message: "later" }],
      first: ["charge", "F"],
    };
    const workflow = paying(steps as never, ["first>m", "m>f"], { workflows });
    const engine = engineOf(workflow);
    const rests = await engine.execute({ initialNodeId: "first" });
    expect(rests).toMatchObject({ status: "parked", error: { message: "later", notUndone: ["pay"] } });
    expect(explain(rests).sentence).toContain("pay (item 1) (the bank is closed)");
    expect(undone).toEqual(["x", "F"]);
    broken = [];
    expect(await told(engine, rests, { type: "retry" })).toMatchObject({ status: "failed", error: { message: "later" } });
    expect(undone).toEqual(["x", "F", "y"]);
  });

  it("is not mixed with what the node that began it undoes", async () => {
    const deep = {
      ...paying({ own: ["charge", "O"], sub: ["workflow", { workflow: "inner", input: "S" }], end: "noop" }, ["own>sub", "sub>end@error"]),
      id: "deep",
      workflows,
    };
    const outer = flow("w", { part: ["workflow", { workflow: "deep" }], f: ["fail", { message: "no" }] }, ["part>f"], {
      workflows: { deep },
    }) as {
      nodes: { id: string }[];
    };
    const nodes = outer.nodes.map((node) => (node.id === "part" ? { ...node, compensate: { type: "refund" } } : node));
    broken = ["S"];
    const engine = engineOf({ ...outer, nodes });
    const rests = await engine.execute({});
    expect(rests.status).toBe("parked");
    expect(undone).toEqual([expect.objectContaining({ message: "no" })]);
    broken = [];
    expect(await told(engine, rests, { type: "retry" })).toMatchObject({ status: "failed" });
    expect(undone).toEqual([expect.objectContaining({ message: "no" }), "S"]);
  });
});

describe("B3: an execution of which something could not be undone, and whose messages are not delivered yet", () => {
  const inner = { id: "inner", nodes: [{ id: "n", type: "noop" }], edges: [] };
  const steps = { a: ["charge", "A"], call: ["workflow", { workflow: "inner", detached: true }] } as const;
  const workflow = paying(steps as never, ["a>call"]);
  const delivered = (snapshot: Snapshot): Promise<Snapshot> =>
    told(engine, snapshot, { type: "delivered", ids: snapshot.outbox!.map(({ id }) => id) });
  const engine = new WorkflowEngine({ workflow, workflows: [inner], nodeDefinitions, plugins });

  async function telling(): Promise<Snapshot> {
    broken = ["A"];
    const telling = await told(engine, await engine.execute({}), { type: "cancel" });
    expect(telling).toMatchObject({
      status: "active",
      activePaths: [],
      outbox: [{ type: "start" }, { type: "cancel" }],
      ending: { again: [] },
    });
    return telling;
  }

  it("has not ended: it says what comes after the messages, and rests then", async () => {
    const snapshot = await telling();
    const { sentence, places, next } = explain(snapshot, engine.workflow);
    expect(sentence).toBe(
      `Cancelled; not undone: a (the bank is closed); messages are still to be delivered to the execution "${snapshot.workflowId}/0#2"; ` +
        "after that, what was not undone can be tried again (retry) or given up (cancel).",
    );
    expect([places, next]).toEqual([[], null]);
    await expect(engine.send(snapshot, { type: "retry" })).rejects.toMatchObject({ code: "RETRY_NOT_PENDING" });
    const rests = await delivered(snapshot);
    expect(rests).toMatchObject({ status: "parked", ending: { again: [{ nodeId: "a" }] } });
    broken = [];
    expect(await told(engine, rests, { type: "retry" })).toMatchObject({ status: "cancelled" });
  });

  it("can be given up at once, and ends when they are delivered", async () => {
    const given = await told(engine, await telling(), { type: "cancel" });
    expect(given).toMatchObject({ status: "active", outbox: [{ type: "start" }, { type: "cancel" }] });
    expect(given.ending).not.toHaveProperty("again");
    await expect(engine.send(given, { type: "cancel" })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    expect(explain(given).sentence).toContain("not undone: a (the bank is closed); messages are still to be delivered to the execution");
    const over = await delivered(given);
    expect(over).toMatchObject({ status: "cancelled", error: { code: "COMPENSATION_FAILED", notUndone: ["a"] } });
  });

  it("keeps signals and takes metadata as it does when it rests, and its end stays the same", async () => {
    const signalled = await told(engine, await telling(), { type: "signal", name: "go" });
    expect(signalled).toMatchObject({ status: "active", inbox: [{ name: "go" }], ending: { status: "cancelled", again: [] } });
    const named = await told(engine, signalled, { type: "setMetadata", patch: { clerk: "ada" } });
    expect(named).toMatchObject({ metadata: { clerk: "ada" }, ending: { status: "cancelled", again: [] } });
    expect(await delivered(named)).toMatchObject({ status: "parked", ending: { status: "cancelled" } });
  });
});
