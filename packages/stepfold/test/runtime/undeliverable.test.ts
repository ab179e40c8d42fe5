import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { flow } from "../nodes/workflow.fixture.ts";
import { closeAll, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const special = defineNode({ executor: (data) => ({ data: { special: data } }) });
const child = flow("child", { ask: "approval" });
const parent = flow(
  "parent",
  {
    call: ["workflow", { workflow: "child", detached: true }],
    after: ["special", "{{ nodes.call.last.data }}"],
    bad: ["set", "refused"],
  },
  ["call>after", "call>bad@error"],
);

describe("AUDIT 7: a message that cannot be delivered", () => {
  it("because the store refuses the child, fails the node that wants it, which leaves by its edge", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: environment.now });
    const { create } = store;
    store.create = async (commit, options) => {
      if (commit.head.definition.id === "child")
        throw new StepfoldError("OPTION_INVALID", { option: "concurrency", reason: "is not for this store" });
      return create.call(store, commit, options);
    };
    const problems: unknown[] = [];
    const more = { nodeDefinitions: { ...builtinNodes, special } as never, workflows: [parent, child] };
    const { runtime } = setUp({ ...more, store, onProblem: (_id, problem) => problems.push(problem) }, environment);
    const run = await runtime.start("parent");
    await environment.advance(5 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed", output: "refused" });
    expect(problems).toEqual([expect.objectContaining({ code: "OPTION_INVALID" })]);
  });

  it("is not one because the worker of the child lacks the code of its parent", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: environment.now });
    const workflows = [parent, child];
    const whole = setUp({ store, nodeDefinitions: { ...builtinNodes, special } as never, workflows }, environment);
    const run = await whole.runtime.start("parent");
    await environment.advance(2 * second);
    const [childId] = (await store.list({ definitionId: "child" })).items.map(({ workflowId }) => workflowId);
    await whole.runtime.close();
    const problems: unknown[] = [];
    const lacking = setUp(
      { store, nodeDefinitions: builtinNodes as never, workflows: [child], onProblem: (_id, problem) => problems.push(problem) },
      environment,
    );
    await (await lacking.runtime.get(childId!)).resume({ payload: { approved: true } });
    await environment.advance(2 * second);
    expect(await store.load(childId!)).toMatchObject({ status: "completed" });
    await lacking.runtime.close();
    const later = setUp({ store, nodeDefinitions: { ...builtinNodes, special } as never, workflows }, environment);
    await environment.advance(20 * second);
    expect(await (await later.runtime.get(run.workflowId)).snapshot()).toMatchObject({
      status: "completed",
      output: { special: { approved: true } },
    });
  });
});

describe("B4: a timer further away than a minute", () => {
  it("fires on time, however seldom the store is asked", async () => {
    const nap = { id: "nap", nodes: [{ id: "w", type: "wait", data: { for: "1h" } }], edges: [] };
    const { runtime, environment } = setUp({ nodeDefinitions: builtinNodes as never, workflows: [nap], pollMs: 86_400_000 });
    const run = await runtime.start("nap");
    await environment.advance(3_600_000 + 10);
    expect((await run.snapshot()).status).toBe("completed");
  });
});
