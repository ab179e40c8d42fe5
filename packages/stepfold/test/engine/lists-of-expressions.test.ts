import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/values/json.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const rows: Json = [{ phone: "1" }, {}];

async function outputOf(data: Json, more: object = {}): Promise<unknown> {
  const workflow = { id: "w", nodes: [{ id: "n", type: "set", data }], edges: [], ...more };
  const { status, output, error } = await new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({ input: rows });
  return status === "completed" ? output : error?.message;
}

describe("a list that an expression makes", () => {
  const cases: readonly (readonly [string, Json])[] = [
    ["{{ input.map(row => row.phone) }}", ["1", null]],
    ["{{ [input.missing] }}", [null]],
    ["{{ [[input.missing], 1] }}", [[null], 1]],
    ["{{ { all: input.map(row => row.phone), none: input.missing } }}", { all: ["1", null] }],
    ["{{ /(a)(b)?/.exec('a') }}", ["a", "a", null]],
    ["{{ input.map(row => [row.phone]).flat() }}", ["1", null]],
  ];

  it.each(cases)("has null where it has no value, as in JSON: %s", async (expression, expected) => {
    expect(await outputOf(expression)).toEqual(expected);
    expect(await outputOf({ in: [expression] })).toEqual({ in: [expected] });
    expect(await outputOf("{{ [1] }}", { output: expression })).toEqual(expected);
  });

  it("is the same in a variable, whether it is set or a reducer makes it", async () => {
    const nodes = [
      { id: "n", type: "set", data: { vars: { phones: "{{ input.map(row => row.phone) }}", all: [1] } } },
      { id: "o", type: "set", data: { phones: "{{ vars.phones }}", all: "{{ vars.all }}" } },
    ];
    const variables = { all: { reducer: "{{ [current, value] }}" } };
    expect(await outputOf(null, { nodes, edges: [{ source: "n", target: "o" }], variables })).toEqual({
      phones: ["1", null],
      all: [null, [1]],
    });
  });

  it("is the same for the items of a map", async () => {
    const order = { id: "order", nodes: [{ id: "a", type: "set", data: { got: "{{ input }}" } }], edges: [] };
    const nodes = [{ id: "n", type: "map", data: { workflow: "order", items: "{{ input.map(row => row.phone) }}" } }];
    expect(await outputOf(null, { nodes, workflows: { order } })).toEqual([{ got: "1" }, { got: null }]);
  });

  it("is refused from code, whose author can write null", async () => {
    const workflow = { id: "w", nodes: [{ id: "n", type: "code" }], edges: [] };
    const code = { executor: () => ({ data: ["1", undefined] }) };
    expect(await new WorkflowEngine({ workflow, nodeDefinitions: { code } }).execute({})).toMatchObject({
      error: { code: "VALUE_NOT_JSON" },
    });
  });
});
