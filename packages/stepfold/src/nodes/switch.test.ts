import { describe, expect, it } from "vitest";
import type { Json } from "../core/json.ts";
import type { Snapshot } from "../core/snapshot.ts";
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
      ...handles.map((id) => ({ id: `to-${id}`, type: "end", data: id })),
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
    expect(snapshot.context.route?.[0]?.output).toMatchObject({ handle });
  });

  it("fails where nothing fits and nobody decided what then", async () => {
    const snapshot = await run({ value: 99 }, ends);
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "HANDLE_UNKNOWN", message: expect.stringContaining('"default"') } });
  });

  it("fails where the handle of a case has no edge", async () => {
    expect(await run({ value: 1 }, ["text", "default"])).toMatchObject({ status: "failed", error: { code: "HANDLE_UNKNOWN" } });
  });
});
