import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";

/** The status of a map over so many items of which the first ones fail. */
async function statusOf(toleratedFailures: string, total: number, failing: number): Promise<string> {
  const item = {
    id: "item",
    nodes: [
      { id: "if", type: "if", data: { condition: "{{ input }}" } },
      { id: "no", type: "fail", data: { message: "no" } },
    ],
    edges: [{ source: "if", target: "no", sourceHandle: "true" }],
  };
  const nodes = [{ id: "m", type: "map", data: { workflow: "item", items: "{{ input }}", toleratedFailures } }];
  const workflow = { id: "w", nodes, edges: [], workflows: { item } };
  const input = Array.from({ length: total }, (_, i) => i < failing);
  return (await new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({ input })).status;
}

describe("a share of failures that is tolerated", () => {
  it.each([
    ["10%", 10, 1],
    ["29%", 100, 29],
    ["57%", 100, 57],
    ["58%", 100, 58],
    ["33.3%", 1_000, 333],
    ["0.1%", 1_000, 1],
    ["99.999%", 1_000, 999],
    ["100%", 10, 10],
    ["0%", 10, 0],
    ["50%", 3, 1],
  ])("is exact at its bound: %s of %i items are %i", async (share, total, tolerated) => {
    expect(await statusOf(share, total, tolerated)).toBe("completed");
    if (tolerated < total) expect(await statusOf(share, total, tolerated + 1)).toBe("failed");
  });

  it("is exact for every share of any number of items", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 1, max: 60 }), async (thousandths, total) => {
        const share = `${Math.floor(thousandths / 1_000)}.${String(thousandths % 1_000).padStart(3, "0")}%`;
        // the same in whole numbers, without any fraction
        const tolerated = Number((BigInt(thousandths) * BigInt(total)) / 100_000n);
        expect(await statusOf(share, total, tolerated)).toBe("completed");
        expect(await statusOf(share, total, tolerated + 1)).toBe("failed");
      }),
      { numRuns: 60 },
    );
  });
});
