import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import { schedules } from "../../../src/schedules/schedules.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

// What becomes of the task queue of an execution where it meets other features.

afterEach(closeAll);

const drawing = { ...flow("draw", { draw: ["set", { drawn: true }] }), taskQueue: "gpu" };
const asking = { ...flow("ask", { ask: "approval", done: "noop" }, ["ask>done@approved"]), taskQueue: "gpu" };
const plain = flow("plain", { a: "noop" });
const calling = {
  ...flow("call", { call: ["workflow", { workflow: "draw", detached: true }], own: ["workflow", { workflow: "draw" }] }, ["call>own"]),
};

function fleet(workflows: readonly object[], more: Partial<RuntimeOptions> = {}) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const options = { store, workflows, nodeDefinitions: builtinNodes, ...more } as Partial<RuntimeOptions>;
  const worker = (taskQueues: readonly string[]) => setUp({ ...options, taskQueues }, environment).runtime;
  return { environment, store, starter: setUp({ ...options, drive: false }, environment).runtime, worker };
}

describe("a task queue", () => {
  it("is that of the workflow, or the one that the start names, and others do not run the execution", async () => {
    const { environment, starter, worker, store } = fleet([drawing, plain]);
    worker(["default"]);
    await starter.start("draw", { workflowId: "a" });
    await starter.start("draw", { workflowId: "b", taskQueue: "default" });
    await starter.start("plain", { workflowId: "c", taskQueue: "gpu" });
    await starter.start(drawing as never, { workflowId: "d" });
    await environment.advance(5 * second);
    const statuses = async () => Object.fromEntries((await store.list()).items.map(({ workflowId, status }) => [workflowId, status]));
    expect(await statuses()).toEqual({ a: "active", b: "completed", c: "active", d: "active" });
    worker(["gpu"]);
    await environment.advance(5 * second);
    expect(await statuses()).toEqual({ a: "completed", b: "completed", c: "completed", d: "completed" });
  });

  it("is kept by answers, restarts and forks", async () => {
    const { environment, starter, worker } = fleet([asking]);
    worker(["gpu"]);
    const run = await starter.start("ask", { workflowId: "a" });
    await environment.advance(2 * second);
    worker(["default"]);
    await run.resume({ payload: { approved: true } });
    await environment.advance(2 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed", taskQueue: "gpu" });
    const again = await starter.start("ask", { workflowId: "b" });
    await environment.advance(2 * second);
    await again.cancel();
    await again.restart();
    await environment.advance(2 * second);
    expect(await again.snapshot()).toMatchObject({ status: "paused", taskQueue: "gpu", restarts: 1 });
    const { workflowId } = await run.fork({ node: "ask" });
    await environment.advance(2 * second);
    expect(await (await starter.get(workflowId)).snapshot()).toMatchObject({ status: "paused", taskQueue: "gpu" });
  });

  it("is its own for a detached execution, and that of the outer one for a workflow inside it", async () => {
    const { environment, starter, worker, store } = fleet([calling, drawing]);
    worker(["default"]);
    const run = await starter.start("call", { workflowId: "a" });
    await environment.advance(5 * second);
    const child = (await store.list()).items.find(({ workflowId }) => workflowId !== "a")!;
    expect([(await run.snapshot()).status, child.status]).toEqual(["paused", "active"]);
    worker(["gpu"]);
    await environment.advance(5 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed", output: { drawn: true } });
  });

  it("is that of the workflow for what a schedule starts", async () => {
    const { environment, starter, worker, store } = fleet([drawing], { schedules: schedules() });
    worker(["default"]);
    await starter.schedules.create("s", { workflow: "draw", every: "1m" });
    await environment.advance(90 * second);
    const started = async () =>
      (await store.list()).items.filter(({ workflowId }) => workflowId !== "schedule:s").map(({ status }) => status);
    expect(await started()).toEqual(["active"]);
    worker(["gpu"]);
    await environment.advance(5 * second);
    expect(await started()).toEqual(["completed"]);
  });

  it("is refused where it has no form, or where the store does not know any", async () => {
    const { starter } = fleet([plain]);
    for (const taskQueue of ["", "a b", "x".repeat(129), 7 as never])
      await expect(starter.start("plain", { taskQueue })).rejects.toMatchObject({
        code: "OPTION_INVALID",
        details: { option: "taskQueue" },
      });
    for (const taskQueues of [[], ["a b"], "gpu", [7]])
      expect(() => fleet([plain], { taskQueues: taskQueues as never })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => fleet([{ ...plain, taskQueue: "a b" }])).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
    const { taskQueues: _, ...features } = memoryStore().features;
    const { starter: other } = fleet([plain], { store: { ...memoryStore(), features } });
    await expect(other.start("plain", { taskQueue: "gpu" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
