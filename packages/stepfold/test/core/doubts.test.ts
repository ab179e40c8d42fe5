import { describe, expect, it } from "vitest";
import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { checkWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";
import { httpNode } from "../../src/nodes/http/http-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const pay = { executor: () => ({ data: 1 }) };
const nodeDefinitions = { ...builtinNodes, http: httpNode(), pay } as Readonly<Record<string, NodeDefinition>>;

const found = (definition: unknown): string[] =>
  checkWorkflow(definition, nodeDefinitions).map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);

/** What is found at one node, with edges to a node for each of these handles. */
function foundAt(
  node: Omit<Partial<Node>, "data"> & { readonly data?: unknown },
  handles: readonly string[] = [],
  more: Partial<WorkflowDefinition> = {},
): string[] {
  const edges = handles.map((sourceHandle): Edge => ({ source: "n", target: "o", ...(sourceHandle !== "" && { sourceHandle }) }));
  const nodes = [{ id: "n", ...node }, ...(handles.length > 0 ? [{ id: "o", type: "noop", join: "each" }] : [])];
  return found({ id: "w", nodes, edges, ...more });
}

describe("checkWorkflow doubts", () => {
  it("a way of an approval or a race that no edge takes", () => {
    expect(foundAt({ type: "approval" }, ["approved"])).toEqual(["warning HANDLE_UNUSED /nodes/0"]);
    expect(foundAt({ type: "approval" }, ["rejected"])).toEqual(["warning HANDLE_UNUSED /nodes/0"]);
    expect(foundAt({ type: "approval" }, ["approved", "rejected"])).toEqual([]);
    // nothing follows it, so its answer is the output
    expect(foundAt({ type: "approval" })).toEqual([]);
    const signals = [{ name: "paid" }, { name: "revoked", handle: "gone" }, { name: "again", handle: "gone" }];
    const data = { signals, timer: { for: "1h" }, answer: { handle: "answered" } };
    expect(foundAt({ type: "race", data }, ["paid", "gone", "timer", "answered"])).toEqual([]);
    for (const lost of ["paid", "gone", "timer", "answered"]) {
      const others = ["paid", "gone", "timer", "answered"].filter((handle) => handle !== lost);
      const [issue, ...rest] = checkWorkflow(
        {
          id: "w",
          nodes: [
            { id: "n", type: "race", data },
            { id: "o", type: "noop", join: "each" },
          ],
          edges: others.map((sourceHandle) => ({ source: "n", target: "o", sourceHandle })),
        },
        nodeDefinitions,
      );
      expect(issue).toMatchObject({ severity: "warning", code: "HANDLE_UNUSED", message: expect.stringContaining(`"${lost}"`) });
      expect(rest).toEqual([]);
    }
  });

  it("not what only an expression says", () => {
    const signals = [{ name: "{{ input.name }}" }, { name: "paid", handle: "{{ input.handle }}" }];
    expect(foundAt({ type: "race", data: { signals } }, ["paid"])).toEqual([]);
    expect(foundAt({ type: "race", data: { signals: "{{ input.signals }}", timer: "{{ input.timer }}" } }, ["paid"])).toEqual([]);
    expect(foundAt({ type: "race", data: "{{ input }}" }, ["paid"])).toEqual([]);
  });

  it.each<[string, Partial<Node>, string]>([
    ["wait", { type: "wait", data: { for: "2 dayz" } }, "/nodes/0/data/for"],
    ["signal", { type: "signal", data: { name: "paid", timeout: "soon" } }, "/nodes/0/data/timeout"],
    ["race", { type: "race", data: { signals: [{ name: "o" }], timer: { for: "1 month", handle: "o" } } }, "/nodes/0/data/timer/for"],
    ["sendSignal", { type: "sendSignal", data: { to: "x", name: "paid", ttl: "-1h" } }, "/nodes/0/data/ttl"],
    ["http", { type: "http", data: { url: "https://a.example", timeout: "2 sex" } }, "/nodes/0/data/timeout"],
    ["wait with a negative number", { type: "wait", data: { for: -5 } }, "/nodes/0/data/for"],
  ])("a duration that is none: %s", (_, node, pointer) => {
    expect(foundAt(node, node.type === "race" ? ["o"] : [""])).toEqual([`warning DURATION_INVALID ${pointer}`]);
  });

  it.each<[string, Partial<Node>, string[]]>([
    ["wait for a day that does not exist", { type: "wait", data: { until: "2026-02-30" } }, ["/nodes/0/data/until"]],
    ["wait for a local time", { type: "wait", data: { until: "2026-02-28T09:00:00" } }, ["/nodes/0/data/until"]],
    ["race", { type: "race", data: { signals: [{ name: "o" }], timer: { until: "noon", handle: "o" } } }, ["/nodes/0/data/timer/until"]],
    ["wait until 2026", { type: "wait", data: { until: "2026-02-28T09:00:00Z" } }, []],
    ["wait for what an expression says", { type: "wait", data: { until: "{{ input.at }}" } }, []],
  ])("a time that does not exist: %s", (_, node, pointers) => {
    expect(foundAt(node, node.type === "race" ? ["o"] : [""])).toEqual(pointers.map((pointer) => `warning MOMENT_INVALID ${pointer}`));
  });

  it("settings that have no effect where they stand", () => {
    const retryPolicy = { maxAttempts: 2, interval: 1, backoff: "fixed" } as const;
    expect(foundAt({ type: "signal", data: { name: "paid" }, retryPolicy, heartbeatTimeout: "1m" }, [""])).toEqual([
      "warning KEY_POINTLESS /nodes/0/retryPolicy",
      "warning KEY_POINTLESS /nodes/0/heartbeatTimeout",
    ]);
    expect(foundAt({ type: "set", data: 1, timeout: "1m" })).toEqual(["warning KEY_POINTLESS /nodes/0/timeout"]);
    expect(foundAt({ type: "pay", retryPolicy, timeout: "1m", heartbeatTimeout: "1s" })).toEqual([]);
    expect(foundAt({ type: "http", data: { url: "https://a.example" }, retryPolicy, timeout: "1m" })).toEqual([]);
    expect(foundAt({ type: "pay", incident: true }, ["error", ""])).toEqual(["warning KEY_POINTLESS /nodes/0/incident"]);
    expect(foundAt({ type: "pay", incident: true }, [""])).toEqual([]);
    expect(foundAt({ type: "pay", compensate: { type: "set", timeout: "1m" } })).toEqual([
      "warning KEY_POINTLESS /nodes/0/compensate/timeout",
    ]);
  });

  it("an edge timeout of a node that waits for ever", () => {
    expect(foundAt({ type: "signal", data: { name: "paid" } }, ["", "timeout"])).toEqual(["warning HANDLE_UNKNOWN /nodes/0"]);
    expect(foundAt({ type: "signal", data: { name: "paid", timeout: "1h" } }, ["", "timeout"])).toEqual([]);
    expect(foundAt({ type: "signal", data: { name: "paid" }, timeout: "1h" }, ["", "timeout"])).toEqual([]);
    expect(foundAt({ type: "signal", data: "{{ input }}" }, ["", "timeout"])).toEqual([]);
    const signals = [{ name: "timeout" }, { name: "o" }];
    expect(foundAt({ type: "race", data: { signals } }, ["timeout", "o"])).toEqual([]);
    expect(foundAt({ type: "pay" }, ["", "timeout"])).toEqual([]);
    expect(foundAt({ type: "workflow", data: { workflow: "w", detached: true } }, ["", "timeout"])).toEqual([
      "warning HANDLE_UNKNOWN /nodes/0",
    ]);
  });

  it("two first nodes, or none", () => {
    const nodes = [
      { id: "a", type: "noop" },
      { id: "b", type: "noop" },
    ];
    expect(found({ id: "w", nodes, edges: [] })).toEqual(["warning START_UNKNOWN /nodes"]);
    const circle = [
      { source: "a", target: "b" },
      { source: "b", target: "a" },
    ];
    expect(found({ id: "w", nodes, edges: circle })).toContain("warning START_UNKNOWN /nodes");
    expect(found({ id: "w", nodes, edges: circle, start: "a" })).toEqual([]);
  });

  const input = {
    type: "object",
    properties: {
      customer: { type: "object", properties: { name: { type: "string" } }, additionalProperties: false },
      tags: { type: "array", items: { type: "string" } },
      free: { type: "object" },
    },
    additionalProperties: false,
  };

  it.each<[string, string | null]>([
    ["{{ input.custmer }}", 'reads input.custmer, which the input schema does not allow. Did you mean "customer"?'],
    ["{{ input.customer.nmae }}", "reads input.customer.nmae, which"],
    ["{{ input.missing ?? 'x' }}", "reads input.missing, which"],
    ["{{ input.customer.name }} {{ input.tags.length }} {{ input.tags[0] }} {{ input.free.any }}", null],
    ["{{ input[$json.name] }} {{ input }} {{ input.tags.map(tag => tag.any) }}", null],
    ["{{ $json.custmer }} {{ item.custmer }}", null],
  ])("a read of the input that its closed schema lacks: %s", (data, expected) => {
    const definition = { id: "w", nodes: [{ id: "a", type: "set", data }], edges: [], input };
    const issues = checkWorkflow(definition, nodeDefinitions);
    expect(issues).toEqual(
      expected === null
        ? []
        : [{ severity: "warning", code: "INPUT_UNKNOWN", pointer: "/nodes/0/data", message: expect.stringContaining(expected) }],
    );
    const open = { type: "object", properties: {}, additionalProperties: false, patternProperties: { "": true } };
    for (const schema of [
      open,
      { ...open, patternProperties: undefined, additionalProperties: true },
      { ...open, type: ["object", "null"] },
      true,
    ])
      expect(checkWorkflow(JSON.parse(JSON.stringify({ ...definition, input: schema })), nodeDefinitions)).toEqual([]);
  });

  it("the same in all places where expressions stand, once for each", () => {
    const nodes = [{ id: "a", type: "pay", when: "input.x", timeout: "{{ input.x }}", data: ["{{ input.x + input.x }}"] }];
    expect(found({ id: "w", nodes, edges: [], input, output: "{{ input.x }}" }).sort()).toEqual([
      "warning INPUT_UNKNOWN /nodes/0/data",
      "warning INPUT_UNKNOWN /nodes/0/timeout",
      "warning INPUT_UNKNOWN /nodes/0/when",
      "warning INPUT_UNKNOWN /output",
    ]);
  });

  it("an order that is shipped although its approval was rejected", () => {
    const edge = (source: string, target: string, sourceHandle?: string): Edge => ({
      source,
      target,
      ...(sourceHandle && { sourceHandle }),
    });
    const order = (declined: object): object => ({
      id: "order",
      nodes: [
        { id: "price", type: "pay" },
        { id: "charge", type: "http", data: { method: "POST", url: "https://shop.example/charges" } },
        { id: "pack", type: "map", data: { workflow: "parcel", items: "{{ input.parcels }}" } },
        { id: "approve", type: "approval", data: { title: "Ship it?", responders: ["ada", "bob"], timeout: "2h" } },
        { id: "ship", type: "http", data: { method: "POST", url: "https://shop.example/shipments" }, join: "all" },
        { id: "shipped", type: "end" },
        { id: "declined", type: "end", data: { output: { declined: true }, ...declined } },
      ],
      edges: [
        edge("price", "charge"),
        edge("price", "pack"),
        edge("price", "approve"),
        edge("charge", "ship"),
        edge("pack", "ship"),
        edge("approve", "ship", "approved"),
        edge("approve", "declined", "rejected"),
        edge("approve", "declined", "timeout"),
        edge("ship", "shipped"),
      ],
      workflows: { parcel: { id: "parcel", nodes: [{ id: "print", type: "pay" }], edges: [] } },
    });
    expect(checkWorkflow(order({}), nodeDefinitions)).toEqual([
      {
        severity: "warning",
        code: "JOIN_LEFT",
        pointer: "/nodes/4",
        message: expect.stringContaining(
          'The branch through "approve" can leave by "rejected" to "declined" instead, and then "ship" goes on',
        ),
      },
    ]);
    expect(found(order({ terminate: true }))).toEqual([]);
  });
});

describe("checkWorkflow reports all mistakes at once", () => {
  it("an edge to no node, an expression, a duration, a type, and the data of a node", () => {
    const definition = {
      id: "w",
      nodes: [
        { id: "a", type: "set", data: "{{ inptu.x }}" },
        { id: "b", type: "pay", timeout: "soon" },
        { id: "c", type: "nope" },
        { id: "d", type: "approval", data: { quorum: "two" } },
        { id: "e", type: "pay", retry: 1 },
      ],
      edges: [
        { source: "a", target: "bb" },
        { source: "b", target: "c" },
      ],
    };
    expect(found(definition).sort()).toEqual([
      "error DATA_INVALID /nodes/3/data/quorum",
      "error DURATION_INVALID /nodes/1/timeout",
      "error EDGE_DANGLING /edges/0/target",
      "error EXPRESSION_INVALID /nodes/0/data",
      "error KEY_UNKNOWN /nodes/4/retry",
      "error NODE_TYPE_UNKNOWN /nodes/2/type",
    ]);
  });

  it.each<[string, object, string]>([
    ["a node that is no object", { nodes: [5, { id: "a", type: "set", data: "{{ inptu.x }}" }] }, "TYPE /nodes/0"],
    ["a node without a type", { nodes: [{ id: "b" }, { id: "a", type: "set", data: "{{ inptu.x }}" }] }, "REQUIRED /nodes/0/type"],
    ["a node without an id", { nodes: [{ type: "noop" }, { id: "a", type: "set", data: "{{ inptu.x }}" }] }, "REQUIRED /nodes/0/id"],
    [
      "two nodes of one id",
      {
        nodes: [
          { id: "a", type: "noop" },
          { id: "a", type: "set", data: "{{ inptu.x }}" },
        ],
      },
      "ID_DUPLICATE /nodes/1/id",
    ],
    [
      "an id that is none",
      {
        nodes: [
          { id: "a b", type: "noop" },
          { id: "a", type: "set", data: "{{ inptu.x }}" },
        ],
      },
      "ID_INVALID /nodes/0/id",
    ],
    [
      "a join that is none",
      {
        nodes: [
          { id: "b", type: "noop", join: "some" },
          { id: "a", type: "set", data: "{{ inptu.x }}" },
        ],
      },
      "TYPE /nodes/0/join",
    ],
    [
      "a compensation without a type",
      {
        nodes: [
          { id: "b", type: "noop", compensate: {} },
          { id: "a", type: "set", data: "{{ inptu.x }}" },
        ],
      },
      "REQUIRED /nodes/0/compensate/type",
    ],
    ["no edges", { edges: undefined }, "REQUIRED /edges"],
    ["edges that are none", { edges: [5, { source: "a" }] }, "TYPE /edges/0"],
    ["no id", { id: undefined }, "REQUIRED /id"],
    ["a start that is none", { start: "z" }, "START_UNKNOWN /start"],
    ["a key that is none", { concurrency: { key: "" } }, "TYPE /concurrency/key"],
    [
      "a mistake in a workflow inside",
      { workflows: { in: { id: "in", nodes: [{ id: "x", type: "noop" }], edges: [{ source: "x", target: "y" }] } } },
      "EDGE_DANGLING /workflows/in/edges/0/target",
    ],
  ])("beside %s", (_, more, expected) => {
    const definition = {
      id: "w",
      nodes: [
        { id: "b", type: "noop" },
        { id: "a", type: "set", data: "{{ inptu.x }}" },
      ],
      edges: [],
      ...more,
    };
    const all = found(JSON.parse(JSON.stringify(definition)));
    expect(all).toContain(`error ${expected}`);
    expect(all).toContain("error EXPRESSION_INVALID /nodes/1/data");
    expect(all.filter((issue) => issue.startsWith("warning"))).toEqual([]);
  });

  it.each<[string, object]>([
    ["nodes that are no list", { nodes: 5 }],
    ["no nodes", { nodes: [] }],
    ["edges that are no list", { edges: 5 }],
    ["a workflow inside that is none", { workflows: { in: 5 } }],
    ["workflows that are none", { workflows: [] }],
  ])("or only what is wrong with the whole: %s", (_, more) => {
    const definition = { id: "w", nodes: [{ id: "a", type: "set", data: 1 }], edges: [], ...more };
    expect(found(definition).length).toBeGreaterThan(0);
    expect(found(definition).every((issue) => issue.startsWith("error"))).toBe(true);
  });
});
