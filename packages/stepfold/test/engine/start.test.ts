import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { checkWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { systemEnvironment } from "../../src/environment/system-environment.ts";
import { asking, engineOf, giving } from "./engine.fixture.ts";

describe("an execution", () => {
  it("begins at the one node without an edge from another, with a new id, its input and metadata", async () => {
    const { engine, clock } = engineOf(
      { b: giving(1), a: (_, step) => ({ data: [step.workflowId, step.nodeId, step.pathId, step.input] }) },
      ["a>b"],
    );
    const snapshot = await engine.execute({ input: { order: 7, at: new Date(0) }, metadata: { tenant: "t", none: undefined } });
    expect(snapshot).toMatchObject({
      workflowId: "id-1",
      createdAt: clock.now(),
      status: "completed",
      input: { order: 7, at: "1970-01-01T00:00:00.000Z" },
      metadata: { tenant: "t" },
    });
    expect(snapshot.context.a?.[0]?.output).toEqual(["id-1", "a", "0", { order: 7, at: "1970-01-01T00:00:00.000Z" }]);
    expect(snapshot.sizeBytes).toBeGreaterThan(20);
  });

  it("begins where it is told to, and under the id it is given", async () => {
    const { engine } = engineOf({ a: giving(1), b: giving(2) }, ["a>b"]);
    expect(await engine.execute({ initialNodeId: "b", workflowId: "order 7" })).toMatchObject({
      workflowId: "order 7",
      output: 2,
      steps: 1,
    });
    await expect(engine.execute({ initialNodeId: "toString" })).rejects.toMatchObject({ code: "NODE_UNKNOWN" });
  });

  it("does not begin where it is unclear where", async () => {
    const { engine } = engineOf({ a: giving(1), b: giving(2) });
    await expect(engine.execute({})).rejects.toMatchObject({ code: "START_AMBIGUOUS", details: { candidates: ["a", "b"] } });
    const { engine: circle } = engineOf({ a: giving(1), b: giving(2) }, ["a>b", "b>a"]);
    await expect(circle.execute({})).rejects.toMatchObject({ code: "START_AMBIGUOUS", details: { candidates: [] } });
    expect((await circle.execute({ initialNodeId: "a", stepLimit: 1 })).currentNodeId).toBe("b");
  });

  it.each<[object, string]>([
    [{ workflowId: "" }, "workflowId"],
    [{ workflowId: 5 }, "workflowId"],
    [{ workflowId: "a\nb" }, "workflowId"],
    [{ workflowId: "__proto__" }, "workflowId"],
    [{ metadata: [] }, "metadata"],
    [{ metadata: null }, "metadata"],
    [{ stepLimit: 0 }, "stepLimit"],
    [{ stepLimit: Number.NaN }, "stepLimit"],
    [{ stepLimit: "5" }, "stepLimit"],
    [{ concurrency: 1.5 }, "concurrency"],
    [{ concurrency: -1 }, "concurrency"],
    [null as never, "request"],
    [5 as never, "request"],
  ])("refuses %j", async (request, option) => {
    const { engine } = engineOf({ a: giving(1) });
    await expect(engine.execute(request as never)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option } });
  });

  it("takes Infinity for no bound", async () => {
    const { engine } = engineOf({ a: giving(1) });
    expect((await engine.execute({ stepLimit: Number.POSITIVE_INFINITY, concurrency: Number.POSITIVE_INFINITY })).status).toBe("completed");
  });

  it("checks its input against the schema of the workflow", async () => {
    const { engine } = engineOf({ a: giving(1) }, [], {
      rest: {
        input: {
          type: "object",
          required: ["order"],
          properties: { order: { type: "integer" }, tags: { type: "array", items: { type: "string" } } },
        },
      },
    });
    expect((await engine.execute({ input: { order: 7 } })).status).toBe("completed");
    await expect(engine.execute({ input: { order: "7", tags: [1] } })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      status: 422,
      details: {
        workflow: "flow",
        issues: [expect.objectContaining({ pointer: "/order" }), expect.objectContaining({ pointer: "/tags/0" })],
      },
    });
    await expect(engine.execute({ input: {} })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      details: { issues: [{ pointer: "", message: expect.stringContaining("order") }] },
    });
    await expect(engine.execute({})).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("takes boolean schemas", async () => {
    expect((await engineOf({ a: giving(1) }, [], { rest: { input: true } }).engine.execute({ input: 5 })).status).toBe("completed");
    await expect(engineOf({ a: giving(1) }, [], { rest: { input: false } }).engine.execute({ input: 5 })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  it.each<[string, object]>([
    ["a reference to itself", { $ref: "#" }],
    ["a key that only schemas of another kind have", { "~standard": { version: 1 }, type: "integer" }],
  ])("refuses its input, typed, where the schema has: %s", async (_, input) => {
    const { engine } = engineOf({ a: giving(1) }, [], { rest: { input: input as never } });
    await expect(engine.execute({ input: "x" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("an engine", () => {
  it("refuses a definition with every mistake, and node types that nothing defines", () => {
    const broken = (): unknown => engineOf({ "no good": giving(1) }, []);
    expect(broken).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
    const nodes = ["constructor", "toString", "__proto__", "sett"].map((type, i) => ({ id: `n${i}`, type }));
    const make = (): unknown =>
      new WorkflowEngine({
        workflow: { id: "x", start: "n0", nodes, edges: [] },
        nodeDefinitions: { set: { executor: () => ({ data: 1 }) } },
      });
    expect(make).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
    expect(make).toThrow(
      /\/nodes\/0\/type: no node definition is called "constructor". Known: set[\s\S]*"__proto__"[\s\S]*Did you mean "set"/,
    );
    expect(() => new WorkflowEngine({ workflow: { id: "x", nodes, edges: [] }, nodeDefinitions: {} })).toThrow(/Known: none/);
  });

  it.each<[object, string]>([
    [{ limits: { deep: 5 } }, "limits.deep"],
    [{ limits: { depth: 0 } }, "limits.depth"],
    [{ limits: { depth: "5" } }, "limits.depth"],
    [{ limits: { keys: Number.NaN } }, "limits.keys"],
    [{ stepTimeoutMs: -1 }, "stepTimeoutMs"],
    [{ stepTimeoutMs: Number.NaN }, "stepTimeoutMs"],
    [{ stepTimeoutMs: "5s" }, "stepTimeoutMs"],
  ])("refuses the options %j", (options, option) => {
    expect(() => engineOf({ a: giving(1) }, [], options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option }) }),
    );
  });

  it("runs on the real clock where none is handed in", async () => {
    const engine = new WorkflowEngine({
      workflow: { id: "x", nodes: [{ id: "a", type: "t" }], edges: [] },
      nodeDefinitions: { t: { executor: async () => ({ data: 1 }) } },
    });
    const before = Date.now();
    const { createdAt, workflowId } = await engine.execute({});
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(workflowId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("checkWorkflow", () => {
  const definitions = { set: { input: { type: "object" }, executor: () => ({ data: 1 }) } } as const;

  it("says everything about a workflow without making an engine", () => {
    expect(checkWorkflow({ id: "x", nodes: [{ id: "a", type: "set", data: {} }], edges: [] }, definitions)).toEqual([]);
    expect(checkWorkflow({ id: "x", nodes: [{ id: "a", type: "set", data: 5 }], edges: [] }, definitions)).toEqual([
      expect.objectContaining({ code: "DATA_INVALID", pointer: "/nodes/0/data" }),
    ]);
    expect(checkWorkflow(5, definitions)).toEqual([expect.objectContaining({ code: "TYPE" })]);
  });

  it("passes on what is no mistake of the definition", () => {
    const hostile = new Proxy(
      {},
      {
        getOwnPropertyDescriptor() {
          throw new StepfoldError("RUNTIME_CLOSED", { action: "look" });
        },
      },
    );
    expect(() => checkWorkflow({ id: "x", nodes: [{ id: "a", type: "set" }], edges: [] }, hostile)).toThrow(
      expect.objectContaining({ code: "RUNTIME_CLOSED" }),
    );
  });
});

describe("the system environment", () => {
  it("gives ids in order of time, and never one twice", () => {
    const ids = Array.from({ length: 5_000 }, () => systemEnvironment.newId());
    expect(new Set(ids).size).toBe(5_000);
    const times = ids.map((id) => id.slice(0, 13));
    expect([...times].sort()).toEqual(times);
  });

  it("fires once after a delay, unless it is cancelled", async () => {
    const fired: string[] = [];
    const cancel = systemEnvironment.after(1, () => fired.push("cancelled"));
    cancel();
    systemEnvironment.after(2 ** 33, () => fired.push("far"), { background: true })();
    await new Promise<void>((resolve) => {
      systemEnvironment.after(-5, () => {
        fired.push("now");
        resolve();
      });
    });
    expect(fired).toEqual(["now"]);
    expect(systemEnvironment.monotonicMs()).toBeGreaterThan(0);
  });
});

describe("executeStep", () => {
  it("performs one task, and gives the snapshot after it", async () => {
    const { engine } = engineOf({ a: giving(1), b: asking(), c: (_, step) => ({ data: step.globals as never }) }, ["a>b", "b>c"]);
    const first = await engine.execute({ stepLimit: 1 });
    expect(first).toMatchObject({ status: "active", currentNodeId: "b", version: 1 });
    const paused = await engine.executeStep(first);
    expect(paused).toMatchObject({ status: "paused", version: 2 });
    const answered = await engine.executeStep(paused, { yes: 1 });
    expect(answered).toMatchObject({
      status: "active",
      currentNodeId: "c",
      version: 4,
      context: { b: [{ output: { payload: { yes: 1 } } }] },
    });
    expect(await engine.executeStep(answered, undefined, { key: "g" })).toMatchObject({ status: "completed", output: { key: "g" } });
  });
});

describe("an engine for a workflow with mistakes", () => {
  it("tells of unknown types together with everything else", () => {
    const workflow = {
      id: "flow",
      nodes: [{ id: "a", type: "sett" }, { id: "b", type: "set" }, { id: "b" }, 7],
      edges: [{ source: "a", target: "x" }],
    };
    const issues = checkWorkflow(workflow, { set: { executor: (data) => ({ data }) } });
    expect(issues.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      "ID_DUPLICATE /nodes/2/id",
      "REQUIRED /nodes/2/type",
      "TYPE /nodes/3",
      "EDGE_DANGLING /edges/0/target",
      "NODE_TYPE_UNKNOWN /nodes/0/type",
    ]);
    expect(issues.at(-1)?.message).toContain('Did you mean "set"?');
  });

  it("has its doubts at hand", () => {
    const workflow = {
      id: "flow",
      nodes: [
        { id: "a", type: "ask" },
        { id: "b", type: "ask" },
      ],
      edges: [{ source: "a", target: "b", sourceHandle: "yess" }],
    };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { ask: { handles: ["yes", ""], executor: () => ({ data: 1 }) } } });
    expect(engine.warnings).toMatchObject([{ code: "HANDLE_UNKNOWN", severity: "warning", pointer: "/nodes/0" }]);
  });
});
