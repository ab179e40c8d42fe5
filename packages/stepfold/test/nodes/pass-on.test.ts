import { describe, expect, it } from "vitest";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const make = { id: "make", name: "Make the order", type: "set", data: { total: 7 } };
const tell = { id: "tell", type: "set", data: { came: "{{ $json }}", named: "{{ $('Make the order').item.json.total }}" } };

describe("nodes of the flow", () => {
  it.each([
    [{ type: "if", data: { condition: "{{ $json.total > 5 }}" } }, "true"],
    [{ type: "switch", data: { value: "{{ $json.total }}", cases: [{ equals: 7, handle: "seven" }] } }, "seven"],
    [{ type: "switch", data: { cases: [{ when: true, handle: "all" }], every: true } }, "all"],
    [{ type: "wait", data: { for: 0 } }, ""],
    [{ type: "noop" }, ""],
  ])("pass on what came: %j", async (node, sourceHandle) => {
    const edges = [
      { source: "make", target: "flow" },
      { source: "flow", target: "tell", sourceHandle },
    ];
    const engine = new WorkflowEngine({
      workflow: { id: "w", nodes: [make, { id: "flow", ...node }, tell], edges },
      nodeDefinitions: builtinNodes,
    });
    expect((await engine.execute({ input: { other: 1 } })).output).toEqual({ came: { total: 7 }, named: 7 });
  });

  it("pass on the input where they are the first, and at a join what the first branch came with", async () => {
    const nodes = [
      { id: "fork", type: "noop" },
      { id: "a", type: "set", data: "{{ $json.a }}" },
      { id: "b", type: "set", data: "{{ $json.b }}" },
      { id: "join", type: "noop", join: "all" },
    ];
    const edges = [
      { source: "fork", target: "a" },
      { source: "fork", target: "b" },
      { source: "a", target: "join" },
      { source: "b", target: "join" },
    ];
    const engine = new WorkflowEngine({ workflow: { id: "w", nodes, edges }, nodeDefinitions: builtinNodes });
    expect((await engine.execute({ input: { a: 1, b: 2 } })).output).toBe(1);
  });

  it("pass on after a pause, and where a compensation is one of them what it undoes", async () => {
    const seen: unknown[] = [];
    const spy = { executor: (_: unknown, { incoming }: { incoming: unknown }) => ({ data: seen.push(incoming) }) };
    const nodes = [
      { ...make, compensate: { type: "spy" } },
      { id: "pause", type: "wait", data: { for: "1h" } },
      { id: "stop", type: "fail", data: { message: "no {{ $json.total }}", details: { was: "{{ $json }}" } } },
    ];
    const edges = [
      { source: "make", target: "pause" },
      { source: "pause", target: "stop" },
    ];
    let now = 0;
    const environment = { ...(await import("../../src/environment/system-environment.ts")).systemEnvironment, now: () => now };
    const engine = new WorkflowEngine({ workflow: { id: "w", nodes, edges }, nodeDefinitions: { ...builtinNodes, spy }, environment });
    const paused = await engine.execute({});
    now = 3_600_000;
    const { error } = await engine.execute({ snapshot: paused });
    expect(error).toMatchObject({ message: "no 7", details: { was: { total: 7 } } });
    expect(seen).toEqual([{ total: 7 }]);
  });
});

describe("names of nodes", () => {
  const issuesOf = (names: readonly unknown[]): readonly string[] => {
    try {
      new WorkflowEngine({
        workflow: {
          id: "w",
          nodes: names.map((name, i) => ({ id: `n${i}`, type: "noop", ...(name === undefined ? {} : { name }) })),
          edges: [],
        },
        nodeDefinitions: builtinNodes,
      });
    } catch (error) {
      return (error as { details: { issues: { code: string; pointer: string }[] } }).details.issues.map(
        ({ code, pointer }) => `${code} ${pointer}`,
      );
    }
    return [];
  };

  it("are any text, and each names one node", () => {
    expect(issuesOf(["n0", "Äpfel & Birnen!", undefined])).toEqual([]);
    expect(issuesOf(["a", "a"])).toEqual(["ID_DUPLICATE /nodes/1/name"]);
    expect(issuesOf(["n1", "b"])).toEqual(["ID_DUPLICATE /nodes/0/name"]);
    expect(issuesOf(["", 7, "x".repeat(256)])).toEqual(["TYPE /nodes/0/name", "TYPE /nodes/1/name", "TYPE /nodes/2/name"]);
  });

  it("are found by every form of n8n, and a name that none has is a warning", async () => {
    const forms = [
      "$node['Make the order'].json.total",
      "$('Make the order').first().json.total",
      "$items('Make the order')[0].json.total",
    ];
    const nodes = [make, { id: "tell", type: "set", data: [...forms, "$('Mak the order').item?.json"].map((form) => `{{ ${form} }}`) }];
    const engine = new WorkflowEngine({
      workflow: { id: "w", nodes, edges: [{ source: "make", target: "tell" }] },
      nodeDefinitions: builtinNodes,
    });
    expect(engine.warnings).toMatchObject([{ code: "NODE_UNKNOWN" }]);
    expect((await engine.execute({})).output).toEqual([7, 7, 7, null]);
  });
});

describe("details of a failure", () => {
  const run = async (details: unknown): Promise<unknown> => {
    const nodes = [
      { id: "stop", type: "fail", data: { message: "no", code: "NO", ...(details === undefined ? {} : { details }) } },
      { id: "after", type: "set", data: "{{ $json }}" },
    ];
    const edges = [{ source: "stop", target: "after", sourceHandle: "error" }];
    const engine = new WorkflowEngine({ workflow: { id: "w", nodes, edges }, nodeDefinitions: builtinNodes });
    return (await engine.execute({ globals: { apiKey: "s3cret-value" }, input: { big: "x".repeat(40_000) } })).output;
  };

  it("are the data of the edge error, without secrets", async () => {
    const error = { name: "FatalError", message: "no", code: "NO", nodeId: "stop" };
    expect(await run(undefined)).toEqual(error);
    expect(await run({ a: [1, "s3cret-value is out", null] })).toEqual({ ...error, details: { a: [1, "*** is out", null] } });
    expect(await run("{{ input.big }}")).toEqual({ ...error, message: "no (with details of more than 32768 bytes, which are not kept)" });
  });

  it("of an error of one's own that are no JSON are said to be none", async () => {
    const { FatalError } = await import("../../src/engine/node/fatal-error.ts");
    const own = {
      executor: (): never => {
        throw new FatalError("no", { details: () => 1 });
      },
    };
    const engine = new WorkflowEngine({ workflow: { id: "w", nodes: [{ id: "a", type: "own" }], edges: [] }, nodeDefinitions: { own } });
    expect((await engine.execute({})).error?.details).toMatch(/^cannot be kept: /);
  });
});
