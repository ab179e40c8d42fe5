import { describe, expect, it } from "vitest";
import { editorEdgeKeys, editorNodeKeys } from "../../src/core/definition/compile/check-keys.ts";
import { check, compile } from "../../src/core/definition/compile/compile.ts";
import type { WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { unknownNeeds, withNeeds } from "../../src/core/definition/needs.ts";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { checkWorkflow, prepareStored } from "../../src/engine/workflow/prepared-workflow.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const hello: WorkflowDefinition = { id: "hello", nodes: [{ id: "a", type: "noop" }], edges: [] };
const issuesOf = (definition: unknown): string[] =>
  check(definition, expressionLanguage).map(({ severity, code, pointer, message }) => `${severity} ${code} ${pointer} ${message}`);
const keysOf = (definition: unknown): string[] => issuesOf(definition).filter((issue) => issue.includes("KEY_UNKNOWN"));
const node = (more: object): object => ({ ...hello, nodes: [{ id: "a", type: "noop", ...more }] });
const edge = (more: object): object => ({ ...hello, start: "a", edges: [{ source: "a", target: "a", ...more }] });
const policy = { maxAttempts: 3, interval: 1, backoff: "fixed" };
const meant = (pointer: string, key: string): string[] => [`error KEY_UNKNOWN ${pointer} is unknown. Did you mean "${key}"?`];

describe("B6: a key that nobody reads", () => {
  it.each<[object, string, string]>([
    [node({ jion: "all" }), "/nodes/0/jion", "join"],
    [node({ joinn: "all" }), "/nodes/0/joinn", "join"],
    [node({ jon: "all" }), "/nodes/0/jon", "join"],
    [node({ jain: "all" }), "/nodes/0/jain", "join"],
    [node({ Join: "all" }), "/nodes/0/Join", "join"],
    [node({ dta: 1 }), "/nodes/0/dta", "data"],
    [node({ retry: policy }), "/nodes/0/retry", "retryPolicy"],
    [node({ retrypolicy: policy }), "/nodes/0/retrypolicy", "retryPolicy"],
    [node({ retryPolicy: { ...policy, jiter: 1 } }), "/nodes/0/retryPolicy/jiter", "jitter"],
    [node({ retryPolicy: { ...policy, maxRetries: 1 } }), "/nodes/0/retryPolicy/maxRetries", "maxAttempts"],
    [node({ compensate: { type: "noop", tiemout: "1s" } }), "/nodes/0/compensate/tiemout", "timeout"],
    [node({ compensate: { type: "noop", retryPolicy: { ...policy, delay: 1 } } }), "/nodes/0/compensate/retryPolicy/delay", "interval"],
    [edge({ sourcehandle: "x" }), "/edges/0/sourcehandle", "sourceHandle"],
    [edge({ when: "input.x" }), "/edges/0/when", "sourceHandle"],
    [edge({ ID: "x" }), "/edges/0/ID", "id"],
    [{ ...hello, onfailure: "stop" }, "/onfailure", "onFailure"],
    [{ ...hello, workflow: {} }, "/workflow", "workflows"],
    [{ ...hello, concurrency: { key: "a", limits: 1 } }, "/concurrency/limits", "limit"],
    [{ ...hello, workflows: { inner: node({ wehn: "true" }) } }, "/workflows/inner/nodes/0/wehn", "when"],
  ])("is refused where it was meant for one of ours: %j", (definition, pointer, key) => {
    expect(keysOf(definition)).toEqual(meant(pointer, key));
    expect(() => compile(definition, expressionLanguage)).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
  });

  it.each<[object, string]>([
    [node({ colour: "red" }), "/nodes/0/colour"],
    [node({ ids: 1 }), "/nodes/0/ids"],
    [node({ toString: 1 }), "/nodes/0/toString"],
    [edge({ weight: 1 }), "/edges/0/weight"],
    [{ ...hello, author: "ada" }, "/author"],
  ])("is warned of otherwise: %j", (definition, pointer) => {
    expect(keysOf(definition)).toEqual([`warning KEY_UNKNOWN ${pointer} is unknown and is ignored. Keep your own data in "metadata"`]);
  });

  it("is let be where it is React Flow's", () => {
    const all = (keys: readonly string[]): object => Object.fromEntries(keys.map((key) => [key, null]));
    const definition = {
      ...hello,
      $schema: "x",
      viewport: { x: 0, y: 0, zoom: 1 },
      start: "a",
      nodes: [{ ...all(editorNodeKeys), id: "a", type: "noop", data: {} }],
      edges: [{ ...all(editorEdgeKeys), source: "a", target: "a" }],
    };
    expect(issuesOf(definition)).toEqual([]);
  });

  it("does not keep a definition from loading that is stored with it", () => {
    const older = { ...hello, nodes: [{ id: "a", type: "noop", retry: 1, colour: 1, dta: 1 }], edgs: 1 };
    expect(prepareStored(older, builtinNodes, defaultLimits).warnings).toEqual([]);
    expect(prepareStored(older, builtinNodes, { ...defaultLimits, depth: 1, keys: 1, stringLength: 1, valueBytes: 1 }).nodes.size).toBe(1);
  });
});

describe("B6: what validate says", () => {
  it("is all of the example", () => {
    const example = {
      id: "w",
      nodes: [
        { id: "a", type: "noop" },
        { id: "b", type: "set", data: "{{ nodes.zz.last.data.x }}", retry: { maxAttempts: 3 } },
        { id: "d", type: "if", data: { condition: "{{ input.x }} > 3" } },
        { id: "c", type: "approval", jion: "all" },
      ],
      edges: [
        { source: "a", target: "b" },
        { source: "b", target: "d" },
        { source: "d", target: "c", sourceHandle: "true" },
        { source: "c", target: "a", sourceHandle: "rejected" },
      ],
      start: "a",
    };
    expect(checkWorkflow(example, builtinNodes).map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`)).toEqual([
      "error KEY_UNKNOWN /nodes/1/retry",
      "error KEY_UNKNOWN /nodes/3/jion",
      "warning NODE_UNKNOWN /nodes/1/data",
      "warning CONDITION_CONSTANT /nodes/2/data/condition",
      "warning HANDLE_UNUSED /nodes/3",
    ]);
  });

  it.each<[object, string[]]>([
    [{ when: "paths.aa.length > 0" }, ['NODE_UNKNOWN /nodes/0/when: reads paths.aa, and there is no node "aa"']],
    [{ when: "paths.a.length > 0 && nodes.review.last" }, []],
    [{ when: "{{ paths.a.length }} > 0" }, ["CONDITION_CONSTANT /nodes/0/when: is text with an expression in it, which is always true"]],
    [
      { data: ["{{ nodes.reviw.last.data.x + nodes.reviw.last.data.y }}"] },
      ['NODE_UNKNOWN /nodes/0/data: reads nodes.reviw, and there is no node "reviw". Did you mean "review"?'],
    ],
    [{ data: "{{ nodes[input.name].last }} {{ input }}" }, []],
    [
      { type: "if", data: { condition: "input.x > 3" } },
      ['CONDITION_CONSTANT /nodes/0/data/condition: is text, which is always true: for an expression write "{{ input.x > 3 }}"'],
    ],
    [{ type: "if", data: { condition: " {{ input.x }} " } }, []],
    [{ type: "if", data: { condition: "{{ input.x }}{{ input.y }}" } }, []],
    [{ type: "if", data: {} }, []],
    [{ type: "if", data: { condition: false } }, []],
    [
      { retryPolicy: { ...policy, retryIf: "{{ error.code }} == 'X'" } },
      ["CONDITION_CONSTANT /nodes/0/retryPolicy/retryIf: is text", "KEY_POINTLESS /nodes/0/retryPolicy: has no effect"],
    ],
  ])("is a warning of what never holds or always does: %j", (more, expected) => {
    const workflow = {
      id: "w",
      nodes: [
        { id: "a", type: "set", ...more },
        { id: "review", type: "noop" },
      ],
      edges: [{ source: "review", target: "a" }],
    };
    const found = checkWorkflow(workflow, builtinNodes);
    expect(found.map(({ code, pointer, message }) => `${code} ${pointer}: ${message}`)).toEqual(
      expected.map((text) => expect.stringContaining(text)),
    );
    expect(found.every(({ severity }) => severity === "warning")).toBe(true);
  });
});

describe("B6: what older workers must not ignore", () => {
  const feature = { name: "futures", isUsedBy: ({ version }: WorkflowDefinition) => version === "future" };

  it("stands in the stored definition, also where a workflow inside uses it, and not in its identity", () => {
    const future = { ...hello, version: "future" };
    expect(withNeeds(hello, [feature])).toBe(hello);
    expect(withNeeds(future, [feature])).toEqual({ ...future, needs: ["futures"] });
    expect(withNeeds({ ...hello, workflows: { future } }, [feature])).toMatchObject({ needs: ["futures"] });
    expect(withNeeds(future)).toBe(future);
    expect(compile({ ...hello, needs: [] }, expressionLanguage).hash).toBe(compile(hello, expressionLanguage).hash);
  });

  it("is refused by a version that does not know it", () => {
    expect(unknownNeeds(["futures", "x"], [feature])).toEqual(["x"]);
    expect(issuesOf({ ...hello, needs: ["futures"] })).toEqual([
      "error NEED_UNKNOWN /needs this version of Stepfold does not know futures: update it",
    ]);
    expect(issuesOf({ ...hello, needs: "futures" })).toEqual(["error TYPE /needs must be a list of names"]);
    expect(issuesOf({ ...hello, needs: [1] })).toEqual(["error TYPE /needs must be a list of names"]);
  });
});
