import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** Starts a workflow, waits until no execution is active, and counts the executions that descend from it. */
async function begun(workflows: readonly object[], limits: object, input: unknown = null) {
  const { runtime, environment, store } = setUp({ nodeDefinitions: builtinNodes, workflows, limits, maxExecutions: 1_000 });
  const run = await runtime.start((workflows[0] as { id: string }).id, { workflowId: "root", input });
  do await environment.settle();
  while ((await store.list({ status: ["active"], limit: 1 })).items.length > 0);
  let count = -1;
  for (let cursor: string | null = null; ; ) {
    const page = await store.list({ limit: 1_000, ...(cursor !== null && { cursor }) });
    count += page.items.length;
    cursor = page.nextCursor;
    if (cursor === null) return { count, snapshot: await run.snapshot(), store };
  }
}

const detached = (workflow: string, more: object = {}) => ["workflow", { workflow, detached: true, wait: false, ...more }] as const;

describe("F5: detached executions are bounded by the start that led to them", () => {
  const one = flow("one", { again: detached("bomb") });
  const bomb = flow("bomb", { many: ["map", { workflow: "one", items: Array.from({ length: 10 }, (_, i) => i) }] }, [], {
    workflows: { one },
  });

  it("a workflow that begins itself ten times stops at the limit", async () => {
    for (const descendants of [1, 10, 200]) {
      const { count } = await begun([bomb], { descendants });
      expect(count).toBeLessThanOrEqual(descendants);
      expect(count).toBeGreaterThanOrEqual(Math.min(descendants, 10));
    }
  });

  it("a chain of executions ends with an error of its last node", async () => {
    const { store, count } = await begun([flow("chain", { next: detached("chain") })], { descendants: 100, nesting: 1_000 });
    expect(count).toBeLessThanOrEqual(100);
    const [last] = (await store.list({ status: ["failed"] })).items;
    expect(await store.load(last!.workflowId)).toMatchObject({ error: { code: "LIMIT_EXCEEDED", nodeId: "next" } });
    expect((await store.list({ status: ["failed"] })).items).toHaveLength(1);
  });

  it("the node that would begin one more leaves by its edge for errors", async () => {
    const loop = flow("loop", { go: detached("leaf"), seen: ["set", "{{ $json }}"] }, ["go>go", "go>seen@error"], { start: "go" });
    const { snapshot, count } = await begun([loop, flow("leaf", { end: "noop" })], { descendants: 20 });
    expect(snapshot).toMatchObject({ status: "completed", output: { code: "LIMIT_EXCEEDED", nodeId: "go" }, descendants: 20 });
    expect(count).toBeLessThanOrEqual(20);
    expect(count).toBeGreaterThanOrEqual(10);
  });

  it("thousands of children from one map begin, and each may begin some in turn", async () => {
    const fan = flow("fan", { each: ["map", { workflow: "item", items: "{{ input }}" }] }, [], {
      workflows: { item: flow("item", { go: detached("leaf") }) },
    });
    const leaf = flow("leaf", { end: "noop" });
    expect((await begun([fan, leaf], {}, Array(2_000).fill(0))).count).toBe(2_000);
    const middle = {
      ...(flow("leaf", { each: ["map", { workflow: "item", items: Array(10).fill(0) }] }) as object),
      workflows: { item: flow("item", { go: detached("tip") }) },
    };
    expect((await begun([fan, middle, flow("tip", { end: "noop" })], {}, Array(50).fill(0))).count).toBe(550);
  });
});
