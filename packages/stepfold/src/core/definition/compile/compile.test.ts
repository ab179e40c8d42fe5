import { describe, expect, it } from "vitest";
import { expressionLanguage } from "../../../expressions/expression-language.ts";
import { defaultLimits } from "../../values/limits.ts";
import { check, compile } from "./compile.ts";

const hello = { id: "hello", nodes: [{ id: "a", type: "noop" }], edges: [] };
const issuesOf = (definition: unknown, limits = defaultLimits): string[] =>
  check(definition, expressionLanguage, limits).map(
    ({ severity, code, pointer }) => `${severity === "error" ? "" : "warning "}${code} ${pointer}`,
  );
const node = (more: object): object => ({ ...hello, nodes: [{ id: "a", type: "noop", ...more }] });
const edge = (more: object): object => ({ ...hello, edges: [{ source: "a", target: "a", ...more }] });
const policy = (more: object): object => node({ retryPolicy: { maxAttempts: 3, interval: 5, backoff: "fixed", ...more } });

describe("compile", () => {
  it("reports every mistake at once, each with a code, a pointer and a message", () => {
    const broken = {
      id: "no good",
      name: 5,
      metadata: [],
      start: "nowhere",
      nodes: [{ type: "noop" }, { id: "a", type: 7, keep: 0, join: "all" }, { id: "a", type: "x" }, "b"],
      edges: [{ source: "a", target: "aa", id: "e" }, { target: "a", id: "e" }, null],
    };
    expect(() => compile(broken, expressionLanguage)).toThrow(
      expect.objectContaining({
        code: "DEFINITION_INVALID",
        status: 422,
        message: expect.stringContaining("/edges/0/target: names no node"),
      }),
    );
    expect(issuesOf(broken)).toEqual([
      "ID_INVALID /id",
      "TYPE /name",
      "TYPE /metadata",
      "REQUIRED /nodes/0/id",
      "TYPE /nodes/1/type",
      "TYPE /nodes/1/keep",
      "ID_DUPLICATE /nodes/2/id",
      "TYPE /nodes/3",
      "EDGE_DANGLING /edges/0/target",
      "ID_DUPLICATE /edges/1/id",
      "REQUIRED /edges/1/source",
      "TYPE /edges/2",
      "START_UNKNOWN /start",
    ]);
  });

  it.each<[string, unknown, string[]]>([
    ["no object", 5, ["TYPE "]],
    ["an array", [], ["TYPE "]],
    ["null", null, ["TYPE "]],
    ["an empty object", {}, ["REQUIRED /id", "REQUIRED /nodes", "REQUIRED /edges"]],
    ["no nodes", { ...hello, nodes: [] }, ["REQUIRED /nodes"]],
    ["nodes that are no array", { ...hello, nodes: {} }, ["TYPE /nodes"]],
    ["edges that are no array", { ...hello, edges: "a>b" }, ["TYPE /edges"]],
    ["input that is no schema", { ...hello, input: "text" }, ["TYPE /input"]],
    ["input null", { ...hello, input: null }, ["TYPE /input"]],
    ["a start that is no text", { ...hello, start: 5 }, ["START_UNKNOWN /start"]],
    ["an empty node id", node({ id: "" }), ["ID_INVALID /nodes/0/id"]],
    ["a node id that is no text", node({ id: 5 }), ["ID_INVALID /nodes/0/id"]],
    ["a node id of another kind", node({ id: "__proto__" }), ["ID_INVALID /nodes/0/id"]],
    ["a node without a type", node({ type: undefined, data: 1 }), ["NOT_JSON /nodes/0/type"]],
    ["no type", { ...hello, nodes: [{ id: "a" }] }, ["REQUIRED /nodes/0/type"]],
    ["node metadata that is no object", node({ metadata: 1 }), ["TYPE /nodes/0/metadata"]],
    ["keep of half a result", node({ keep: 1.5 }), ["TYPE /nodes/0/keep"]],
    ["an edge id that is no text", edge({ id: 5 }), ["TYPE /edges/0/id"]],
    ["an edge without an end", { ...hello, edges: [{ source: "a" }] }, ["REQUIRED /edges/0/target"]],
    ["an edge from something else", edge({ source: {} }), ["EDGE_DANGLING /edges/0/source"]],
    ["an edge to an inherited name", edge({ target: "toString" }), ["EDGE_DANGLING /edges/0/target"]],
    ["a handle that is no text", edge({ sourceHandle: 5 }), ["TYPE /edges/0/sourceHandle"]],
    ["a policy that is no object", node({ retryPolicy: "3 times" }), ["RETRY_INVALID /nodes/0/retryPolicy/"]],
    ["an unknown backoff", policy({ backoff: "linear" }), ["RETRY_INVALID /nodes/0/retryPolicy/backoff"]],
    ["a jitter above 1", policy({ jitter: 1.5 }), ["RETRY_INVALID /nodes/0/retryPolicy/jitter"]],
    ["a jitter that is no number", policy({ jitter: "0.5" }), ["RETRY_INVALID /nodes/0/retryPolicy/jitter"]],
    ["a retryIf that is no text", policy({ retryIf: true }), ["RETRY_INVALID /nodes/0/retryPolicy/retryIf"]],
    ["a retryIf with a mistake", policy({ retryIf: "error.code ==" }), ["EXPRESSION_INVALID /nodes/0/retryPolicy/retryIf"]],
    ["no attempts", policy({ maxAttempts: 0 }), ["RETRY_INVALID /nodes/0/retryPolicy/maxAttempts"]],
    ["half an attempt", policy({ maxAttempts: "1.5" }), ["RETRY_INVALID /nodes/0/retryPolicy/maxAttempts"]],
    ["attempts that are no number", policy({ maxAttempts: "many" }), ["RETRY_INVALID /nodes/0/retryPolicy/maxAttempts"]],
    ["attempts of another kind", policy({ maxAttempts: [3] }), ["RETRY_INVALID /nodes/0/retryPolicy/maxAttempts"]],
    ["a negative interval", policy({ interval: -1 }), ["DURATION_INVALID /nodes/0/retryPolicy/interval"]],
    ["an interval with a mistake", policy({ interval: "{{ 1 + }}" }), ["EXPRESSION_INVALID /nodes/0/retryPolicy/interval"]],
    ["a maxInterval that is no duration", policy({ maxInterval: "soon" }), ["DURATION_INVALID /nodes/0/retryPolicy/maxInterval"]],
    [
      "a policy without its parts",
      node({ retryPolicy: {} }),
      [
        "RETRY_INVALID /nodes/0/retryPolicy/backoff",
        "RETRY_INVALID /nodes/0/retryPolicy/maxAttempts",
        "DURATION_INVALID /nodes/0/retryPolicy/interval",
      ],
    ],
    ["a timeout that is no duration", node({ timeout: "soon" }), ["DURATION_INVALID /nodes/0/timeout"]],
    ["a timeout with a mistake", node({ timeout: "{{ ( }}" }), ["EXPRESSION_INVALID /nodes/0/timeout"]],
    ["data with a mistake", node({ data: { url: ["{{ input. }}"] } }), ["EXPRESSION_INVALID /nodes/0/data/url/0"]],
    ["an output with a mistake", { ...hello, output: "{{ }}" }, ["EXPRESSION_INVALID /output"]],
    ["what is not JSON", node({ data: { at: new Date(0) } }), ["NOT_JSON /nodes/0/data/at"]],
    [
      "a key that sets prototypes",
      JSON.parse('{"id":"x","nodes":[{"id":"a","type":"t","data":{"__proto__":1}}],"edges":[]}'),
      ["NOT_JSON /nodes/0/data/__proto__"],
    ],
  ])("refuses %s", (_, definition, expected) => {
    expect(issuesOf(definition)).toEqual(expected);
    expect(() => compile(definition, expressionLanguage)).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
  });

  it.each([
    ["join", 0, ["TYPE /nodes/0/join"]],
    ["join", "any", ["TYPE /nodes/0/join"]],
    ["late", "drop", ["TYPE /nodes/0/late", "warning KEY_POINTLESS /nodes/0/late"]],
    ["cancels", "a", ["TYPE /nodes/0/cancels"]],
    ["cancels", ["a", "b"], ["NODE_UNKNOWN /nodes/0/cancels/1"]],
    ["mutex", 5, ["TYPE /nodes/0/mutex"]],
    ["when", true, ["TYPE /nodes/0/when"]],
    ["when", "paths.", ["EXPRESSION_INVALID /nodes/0/when"]],
    ["compensate", "undo", ["TYPE /nodes/0/compensate"]],
    ["compensate", {}, ["REQUIRED /nodes/0/compensate/type"]],
    ["compensate", { type: "map" }, ["TYPE /nodes/0/compensate/type"]],
    ["compensate", { type: "workflow" }, ["TYPE /nodes/0/compensate/type"]],
    ["compensate", { type: "t", retryPolicy: 3 }, ["RETRY_INVALID /nodes/0/compensate/retryPolicy/"]],
    ["compensate", { type: "t", timeout: "soon" }, ["DURATION_INVALID /nodes/0/compensate/timeout"]],
    ["compensate", { type: "t", data: "{{ }}" }, ["EXPRESSION_INVALID /nodes/0/compensate/data"]],
    ["compensate", { type: "t", dta: 1 }, ["KEY_UNKNOWN /nodes/0/compensate/dta"]],
  ])("says what is wrong with %s: %j", (key, value, expected) => {
    expect(issuesOf(node({ [key]: value }))).toEqual(expected);
  });

  it("checks inline workflows like any other, and what a failure does", () => {
    const inner = { id: "in ner", nodes: [{ id: "a", type: "noop", timeout: "soon" }], edges: [{ source: "a", target: "z" }] };
    expect(issuesOf({ ...hello, workflows: { one: inner }, onFailure: "retry" })).toEqual([
      "TYPE /onFailure",
      "ID_INVALID /workflows/one/id",
      "EDGE_DANGLING /workflows/one/edges/0/target",
      "DURATION_INVALID /workflows/one/nodes/0/timeout",
    ]);
    expect(issuesOf({ ...hello, workflows: { one: { ...hello, nodes: [{ id: "a", type: "noop", timeout: "soon" }] } } })).toEqual([
      "DURATION_INVALID /workflows/one/nodes/0/timeout",
    ]);
    expect(issuesOf({ ...hello, workflows: [] })).toEqual(["TYPE /workflows"]);
    expect(issuesOf({ ...hello, workflows: { "a b": hello, x: 5 } })).toEqual(["ID_INVALID /workflows", "TYPE /workflows/x"]);
    const nested = Array.from({ length: 9 }).reduce((definition: object) => ({ ...hello, workflows: { in: definition } }), hello);
    expect(issuesOf(nested)).toEqual([`TOO_MANY ${"/workflows/in".repeat(8)}/workflows`]);
    expect(issuesOf({ ...hello, onFailure: "finish", workflows: {} })).toEqual([]);
  });

  it("refuses a node that names a workflow which is not there, or which could begin anywhere", () => {
    const names = (workflow: unknown, workflows = {}): readonly string[] =>
      issuesOf({ ...hello, nodes: [{ id: "m", type: "map", data: { workflow, items: [] } }], workflows });
    expect(names("itme", { item: hello })).toEqual(["WORKFLOW_UNKNOWN /nodes/0/data/workflow"]);
    expect(names("hello")).toEqual([]);
    expect(names("{{ input.which }}")).toEqual([]);
    const two = { ...hello, nodes: [...hello.nodes, { id: "other", type: "noop" }] };
    expect(names("two", { two })).toEqual(["START_UNKNOWN /nodes/0/data/workflow"]);
    const far = { ...hello, workflows: { inner: { ...hello, nodes: [{ id: "w", type: "workflow", data: { workflow: "none" } }] } } };
    expect(issuesOf(far)).toEqual(["WORKFLOW_UNKNOWN /workflows/inner/nodes/0/data/workflow"]);
  });

  it("lets workflows name each other, whatever their order", () => {
    const naming = (workflow: string): object => ({ id: "x", nodes: [{ id: "w", type: "workflow", data: { workflow } }], edges: [] });
    expect(issuesOf({ ...hello, workflows: { a: naming("b"), b: { ...naming("c"), workflows: { c: naming("a") } } } })).toEqual([]);
  });

  it("warns of branches that meet without being joined, and shows how", () => {
    const { issues } = messages({
      id: "x",
      nodes: ["f", "a", "b", "m"].map((id) => ({ id, type: "noop" })),
      edges: [
        { source: "f", target: "a" },
        { source: "f", target: "b" },
        { source: "a", target: "m" },
        { source: "b", target: "m" },
      ],
    });
    expect(issues).toEqual([
      expect.stringContaining(`the branches that "f" starts meet here (f > a > m, f > b > m), and "m" runs once for each of them`),
    ]);
  });

  it("bounds the number of nodes", () => {
    const nodes = Array.from({ length: 4 }, (_, i) => ({ id: `n${i}`, type: "noop" }));
    expect(issuesOf({ ...hello, nodes, start: "n0" }, { ...defaultLimits, nodes: 3 })).toContain("TOO_MANY /nodes");
  });

  it("says what was probably meant", () => {
    const { issues } = messages({
      ...hello,
      nodes: [{ id: "approve", type: "noop", dta: {} }],
      edges: [{ source: "aprove", target: "approve" }],
    });
    expect(issues).toContain('names no node. Did you mean "approve"?');
    expect(issues).toContain('is unknown. Did you mean "data"?');
  });

  it("leaves keys alone that only an editor knows", () => {
    expect(issuesOf({ ...hello, viewport: {}, nodes: [{ id: "a", type: "noop", position: { x: 1 }, selected: true }] })).toEqual([]);
  });

  it("warns of nodes that no path leads to", () => {
    const definition = {
      ...hello,
      start: "a",
      nodes: ["a", "b", "c", "d"].map((id) => ({ id, type: "noop" })),
      edges: [
        ["a", "b"],
        ["b", "a"],
        ["c", "d"],
      ].map(([source, target]) => ({ source, target })),
    };
    expect(issuesOf(definition)).toEqual(["warning NODE_UNREACHABLE /nodes/2", "warning NODE_UNREACHABLE /nodes/3"]);
    expect(compile(definition, expressionLanguage).warnings).toHaveLength(2);
    const circle = {
      ...hello,
      nodes: [
        { id: "a", type: "noop" },
        { id: "b", type: "noop" },
      ],
      edges: [
        { source: "a", target: "b" },
        { source: "b", target: "a" },
      ],
    };
    expect(messages(circle).issues).toEqual([
      'no path leads to "a" from a first node',
      'no path leads to "b" from a first node',
      'has no first node: an edge leads to every node. Set "start", or give "initialNodeId" at each start',
    ]);
  });

  it("finds where an execution may begin: at nodes without an edge from another one", () => {
    const startsOf = (edges: [string, string][], start?: string): readonly string[] =>
      compile(
        {
          id: "x",
          nodes: ["a", "b", "c"].map((id) => ({ id, type: "t" })),
          edges: edges.map(([source, target]) => ({ source, target })),
          ...(start && { start }),
        },
        expressionLanguage,
      ).starts;
    expect(
      startsOf([
        ["a", "b"],
        ["b", "c"],
        ["a", "a"],
      ]),
    ).toEqual(["a"]);
    expect(startsOf([["a", "b"]])).toEqual(["a", "c"]);
    expect(
      startsOf([
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
      ]),
    ).toEqual([]);
    expect(startsOf([["a", "b"]], "b")).toEqual(["b"]);
  });

  it("warns where results are to be let go of that may have to be undone", () => {
    expect(issuesOf(node({ compensate: { type: "t" }, keep: 2 }))).toEqual(["warning KEY_POINTLESS /nodes/0/keep"]);
  });

  it("prefers a workflow's own inner one to that around it, where both have its name", () => {
    const inner = { ...hello, nodes: [{ id: "inside", type: "noop" }] };
    const { workflows } = compile({ ...hello, workflows: { hello: inner } }, expressionLanguage);
    expect([...workflows.get("hello")!.nodes.keys()]).toEqual(["inside"]);
  });

  it("lists the workflows that there are where a node names none of them", () => {
    const calling = (workflow: string): object => ({ ...hello, nodes: [{ id: "a", type: "workflow", data: { workflow } }] });
    expect(messages(calling("hallo")).issues).toEqual(['there is no workflow "hallo". Did you mean "hello"?']);
    expect(messages(calling("something-else")).issues).toEqual([`there is no workflow "something-else". Known: hello`]);
  });

  it("indexes edges by handle, in their order, duplicates and loops included", () => {
    const { nodes } = compile(
      {
        id: "x",
        nodes: [
          { id: "a", type: "t" },
          { id: "b", type: "t" },
        ],
        edges: [
          { source: "a", target: "b", sourceHandle: "yes" },
          { id: "named", source: "a", target: "a", sourceHandle: null },
          { source: "a", target: "b" },
          { source: "a", target: "b" },
          { source: "a", target: "a", sourceHandle: "" },
        ],
      },
      expressionLanguage,
    );
    const { edges, next } = nodes.get("a")!;
    expect([...edges.keys()]).toEqual(["", "yes"]);
    expect(next.map(({ via, target }) => `${via} ${target.node.id}`)).toEqual(["named a", "a>b b", "a>b#2 b", "a>a a"]);
    expect(edges.get("yes")?.map(({ via }) => via)).toEqual(["a>b@yes"]);
    expect(nodes.get("b")?.next).toEqual([]);
  });

  it("copies and freezes the definition", () => {
    const source = { ...hello, nodes: [{ id: "a", type: "noop", data: { list: [1] } }] };
    const { definition } = compile(source, expressionLanguage);
    source.nodes[0]!.data.list.push(2);
    expect(definition.nodes[0]!.data).toEqual({ list: [1] });
    expect(Object.isFrozen(definition.nodes[0]!.data)).toBe(true);
  });

  it("compiles a constant output, null too, and an output with expressions", () => {
    const outputOf = (output: unknown): unknown => compile({ ...hello, output }, expressionLanguage).output?.evaluate({ input: { a: 1 } });
    expect(outputOf({ done: true })).toEqual({ done: true });
    expect(outputOf(null)).toBeNull();
    expect(outputOf("{{ input.a }}")).toBe(1);
    expect(compile(hello, expressionLanguage).output).toBeNull();
  });

  it("names what it was given in its error, whatever that is", () => {
    expect(() => compile({ id: "x".repeat(500) }, expressionLanguage)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ workflow: "x".repeat(128) }) }),
    );
    expect(() => compile(null, expressionLanguage)).toThrow(/Workflow "\?"/);
    const hostile = {
      get id(): string {
        throw new RangeError("no");
      },
    };
    expect(() => compile(hostile, expressionLanguage)).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
  });

  it("looks for similar names for the first mistakes only, so that a large graph of mistakes is checked soon", () => {
    const nodes = Array.from({ length: 5_000 }, (_, i) => ({ id: `node-${10_000 + i}`, type: "noop" }));
    const edges = Array.from({ length: 20_000 }, (_, i) => ({ source: `nude-${20_000 + i}`, target: `node-${10_000 + (i % 5_000)}` }));
    const { issues } = messages({ id: "x", nodes, edges });
    expect(issues).toHaveLength(101);
    expect(issues.at(-1)).toBe("there are more errors; only the first 100 are listed");
    expect(issues.filter((message) => message.includes("Did you mean")).length).toBeLessThan(20);
    const loops = issuesOf({ id: "x", nodes, edges: edges.map(({ target }) => ({ source: target, target })) });
    expect(loops.length).toBeLessThanOrEqual(101);
    expect(loops.every((issue) => issue.startsWith("warning"))).toBe(true);
  });
});

function messages(definition: unknown): { issues: string[] } {
  return { issues: check(definition, expressionLanguage).map(({ message }) => message) };
}
