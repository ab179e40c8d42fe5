import { describe, expect, it } from "vitest";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const startedAt = Date.parse("2026-11-20T09:30:00.000Z");
const environment = { ...(await import("../../src/environment/system-environment.ts")).systemEnvironment, now: () => startedAt };

describe("what expressions know of their execution", () => {
  it("is its id, start, input and workflow, also in the items of a map", async () => {
    const item = {
      id: "item",
      nodes: [{ id: "tell", type: "set", data: "{{ [execution.input.tag, execution.id, index, item] }}" }],
      edges: [],
    };
    const workflow = {
      id: "post",
      nodes: [
        { id: "facts", type: "set", data: { all: "{{ execution }}", attempt: "{{ attempt }}", index: "{{ index }}" } },
        { id: "each", type: "map", data: { workflow: "item", items: ["a", "b"] } },
      ],
      edges: [{ source: "facts", target: "each" }],
      output: { facts: "{{ nodes.facts.last.data }}", each: "{{ $json ?? nodes.each.last.data }}", id: "{{ $execution.id }}" },
      workflows: { item },
    };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes, environment });
    const { output } = await engine.execute({ workflowId: "w1", input: { tag: "t" } });
    expect(output).toEqual({
      facts: { all: { id: "w1", workflow: "post", startedAt: "2026-11-20T09:30:00.000Z", input: { tag: "t" } }, attempt: 1 },
      each: [
        ["t", "w1", 0, "a"],
        ["t", "w1", 1, "b"],
      ],
      id: "w1",
    });
  });

  it("draws the same when an attempt is performed again, and anew in the next attempt and execution", async () => {
    const seen: unknown[] = [];
    const take = {
      retryPolicy: { maxAttempts: 2, interval: 0, backoff: "fixed" as const },
      executor(data: unknown) {
        seen.push(data);
        if (seen.length === 2) throw new TypeError("again");
        return { data };
      },
    };
    const workflow = { id: "draw", nodes: [{ id: "take", type: "take", data: "{{ uuid() }}" }], edges: [], output: "{{ uuid() }}" };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { take }, environment });
    const outputs: unknown[] = [];
    for (const workflowId of ["w1", "w1", "w2"]) outputs.push((await engine.execute({ workflowId })).output);
    expect(seen).toHaveLength(4);
    expect(seen[1]).toBe(seen[0]);
    expect(new Set(seen).size).toBe(3);
    expect(outputs[1]).toBe(outputs[0]);
    expect(new Set([...outputs, ...seen]).size).toBe(5);
  });

  it("is refused a chance where no step is drawn for", async () => {
    const workflow = { id: "w", nodes: [{ id: "a", type: "set", when: "uuid() !== ''" }], edges: [] };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes });
    expect((await engine.execute({})).error).toMatchObject({ code: "EXPRESSION_FAILED" });
  });
});
