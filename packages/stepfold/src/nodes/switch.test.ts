import { describe, expect, it } from "vitest";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Json } from "../core/values/json.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { builtinNodes } from "./index.ts";

const cases = [
  { equals: 1, handle: "one" },
  { equals: "1", handle: "text" },
  { equals: { a: [1, { b: null }], c: true }, handle: "object" },
  { equals: null, handle: "none" },
  { equals: 1, handle: "never" },
];
const ends = ["one", "text", "object", "none"];

function run(input: Json, handles: readonly string[]): Promise<Snapshot> {
  const workflow = {
    id: "w",
    nodes: [
      { id: "route", type: "switch", data: { value: "{{ input.value }}", cases } },
      ...handles.map((id) => ({ id: `to-${id}`, type: "end", data: { output: id } })),
    ],
    edges: handles.map((id) => ({ source: "route", target: `to-${id}`, sourceHandle: id })),
  };
  return new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({ input });
}

describe("switch", () => {
  it.each<[Json, string]>([
    [{ value: 1 }, "one"],
    [{ value: "1" }, "text"],
    [{ value: { c: true, a: [1, { b: null }] } }, "object"],
    [{ value: null }, "none"],
    [{}, "none"],
    [{ value: { c: true, a: [{ b: null }, 1] } }, "default"],
    [{ value: true }, "default"],
    [{ value: [] }, "default"],
  ])("sends %j by the handle %s", async (input, handle) => {
    const snapshot = await run(input, [...ends, "default"]);
    expect(snapshot.output).toBe(handle);
    expect(snapshot.context.route?.[0]?.output).toEqual(input);
  });

  it("fails where nothing fits and nobody decided what then", async () => {
    const snapshot = await run({ value: 99 }, ends);
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "HANDLE_UNKNOWN", message: expect.stringContaining('"default"') } });
  });

  it("fails where the handle of a case has no edge", async () => {
    expect(await run({ value: 1 }, ["text", "default"])).toMatchObject({ status: "failed", error: { code: "HANDLE_UNKNOWN" } });
  });
});

describe("switch with conditions", () => {
  const ways: Json = [
    { when: "{{ input.total > 100 }}", handle: "large" },
    { equals: "DE", handle: "domestic" },
    { when: "{{ input.vip ?? false }}", handle: "vip" },
    { when: "{{ input.total > 1000 }}", handle: "large" },
  ];
  const handles = ["large", "domestic", "vip", "default"];
  const route = (input: Json, every: boolean, taken = handles, given: Json = ways): Promise<Snapshot> =>
    new WorkflowEngine({
      workflow: {
        id: "w",
        nodes: [
          { id: "route", type: "switch", data: { value: "{{ input.country }}", cases: given, every } },
          ...taken.map((id) => ({ id: `to-${id}`, type: "set", data: id })),
        ],
        edges: taken.map((id) => ({ source: "route", target: `to-${id}`, sourceHandle: id })),
      },
      nodeDefinitions: builtinNodes,
    }).execute({ input });
  const visited = ({ context }: Snapshot): string[] => Object.keys(context).filter((id) => id !== "route");

  it.each<[Json, string]>([
    [{ total: 101, country: "DE" }, "large"],
    [{ total: 100, country: "DE", vip: true }, "domestic"],
    [{ total: 100, vip: true }, "vip"],
    [{ total: 100 }, "default"],
  ])("takes the first that fits %j", async (input, handle) => {
    const snapshot = await route(input, false);
    expect(visited(snapshot)).toEqual([`to-${handle}`]);
    expect(snapshot.context.route?.[0]?.output).toEqual(input);
  });

  it.each<[Json, readonly string[]]>([
    [{ total: 2000, country: "DE", vip: true }, ["large", "domestic", "vip"]],
    [{ total: 2000 }, ["large"]],
    [{ total: 1, country: "DE", vip: true }, ["domestic", "vip"]],
    [{ total: 1 }, ["default"]],
  ])("takes every one that fits %j, each handle once", async (input, expected) => {
    const snapshot = await route(input, true);
    expect(visited(snapshot).sort()).toEqual(expected.map((id) => `to-${id}`).sort());
    expect(snapshot.context.route?.[0]?.output).toEqual(input);
    for (const id of expected) expect(snapshot.context[`to-${id}`]).toHaveLength(1);
  });

  it("fails where one of several handles has no edge, and takes none", async () => {
    const snapshot = await route({ total: 2000, country: "DE" }, true, ["large", "default"]);
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "HANDLE_UNKNOWN" } });
    expect(visited(snapshot)).toEqual([]);
  });

  it.each<[Json]>([
    ["{{ 'true' }}"],
    ["{{ 1 }}"],
    ["{{ null }}"],
    ["{{ input.missing }}"],
  ])("does not guess what the condition %j means", async (when) => {
    expect(await route({}, false, handles, [{ when, handle: "large" }])).toMatchObject({
      status: "failed",
      error: { code: "DATA_INVALID" },
    });
  });
});
