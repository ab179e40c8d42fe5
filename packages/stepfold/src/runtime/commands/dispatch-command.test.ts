import { expect, it, vi } from "vitest";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { memoryQueue } from "../../queues/memory/memory-queue.ts";
import { memoryStore } from "../../stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import { createRuntimeContext } from "../context/runtime-context.ts";
import { dispatchCommand } from "./dispatch-command.ts";
import { startExecution } from "./start-execution.ts";

const workflow = { id: "one", nodes: [{ id: "a", type: "noop" }], edges: [] };

function setUp(hasQueue = false) {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const nodeDefinitions = { noop: { executor: () => ({ data: null }) } };
  const queue = hasQueue ? { queue: memoryQueue({ environment }) } : {};
  const context = createRuntimeContext({ store, environment, nodeDefinitions, workflows: [workflow], ...queue });
  const request = { prepared: context.registry.current("one"), options: { workflowId: "w" } };
  return { context, store, request, environment };
}

it("a start returns the claim, or whom to wake", async () => {
  const { context, request } = setUp(true);
  const claimed = await startExecution(context, request, context.lease);
  expect(claimed).toMatchObject({ committed: true, wakeUp: null, claim: { claim: { workflowId: "w", fence: 1 } } });
  const again = await startExecution(context, request, context.lease);
  expect(again).toMatchObject({ committed: false, claim: null, wakeUp: { workflowId: "w", wakeAt: 0, isAnnounced: true } });
  const other = await startExecution(context, { ...request, options: { workflowId: "v" } }, null);
  expect(other).toMatchObject({ committed: true, claim: null, wakeUp: { workflowId: "v", version: 0, wakeAt: 0, isAnnounced: false } });
});

it("a command returns whom to wake, and wakes nobody itself", async () => {
  const { context, store, request } = setUp();
  await startExecution(context, request, null);
  const result = await dispatchCommand(context, "w", { type: "cancel" }, { announce: false });
  expect(result).toMatchObject({ committed: true, wakeUp: { workflowId: "w", version: 1, wakeAt: null, isAnnounced: false } });
  expect(await store.load("w")).toMatchObject({ status: "cancelled", version: 1 });
  await expect(dispatchCommand(context, "w", { type: "cancel" }, { announce: false })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
});

it("an answer that is given twice at once is acknowledged, and refused, only by what is committed", async () => {
  const { context, store, request } = setUp();
  await startExecution(context, request, null);
  const signal = (payload: string) =>
    dispatchCommand(context, "w", { type: "signal", name: "s", payload, idempotencyKey: "k" }, { announce: false });
  const all = () => Promise.allSettled([signal("a"), signal("a"), signal("b")]);
  const commit = vi.spyOn(store, "commit").mockRejectedValue(new RangeError("the disk is full"));
  expect(await all()).toMatchObject(Array.from({ length: 3 }, () => ({ reason: { message: "the disk is full" } })));
  commit.mockRestore();
  expect(await all()).toMatchObject([
    { value: { committed: true } },
    { value: { committed: false } },
    { reason: { code: "RESUME_CONFLICT" } },
  ]);
  expect(await store.load("w")).toMatchObject({ version: 1 });
});

it("a command that is no longer wanted changes nothing, also where it is decided again after a conflict", async () => {
  const { context, store, request } = setUp();
  await startExecution(context, request, null);
  let isCurrent = false;
  const cancel = () => dispatchCommand(context, "w", { type: "cancel" }, { announce: false, isCurrent: () => isCurrent });
  await expect(cancel()).rejects.toMatchObject({ code: "FENCE_LOST" });
  isCurrent = true;
  const commit = vi.spyOn(store, "commit").mockImplementationOnce(async () => {
    isCurrent = false;
    throw new StepfoldError("VERSION_CONFLICT", { workflowId: "w", expected: 0, actual: 1 });
  });
  await expect(cancel()).rejects.toMatchObject({ code: "FENCE_LOST" });
  expect(commit).toHaveBeenCalledOnce();
  expect(await store.load("w")).toMatchObject({ status: "active", version: 0 });
});

it("a signal is not sent twice if the answer to its commit is lost, and a command beside it is no longer wanted", async () => {
  const { context, store, request, environment } = setUp();
  await startExecution(context, request, null);
  let isCurrent = true;
  const { commit } = store;
  vi.spyOn(store, "commit").mockImplementation(async (made) => {
    await commit(made);
    if (made.events.length < 2) return;
    isCurrent = false;
    throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "there was no answer" });
  });
  const send = (name: string, more: object) => dispatchCommand(context, "w", { type: "signal", name }, { announce: false, ...more });
  // what comes while the first one is committed is committed together
  const told = Promise.allSettled([send("first", {}), send("delivered", { isCurrent: () => isCurrent }), send("sent", {})]);
  await environment.advance(60_000);
  const unknown = { reason: { code: "OUTCOME_UNKNOWN" } };
  expect(await told).toMatchObject([{ status: "fulfilled" }, unknown, unknown]);
  expect((await store.events("w", 0, 10)).map(({ event }) => "name" in event && event.name)).toEqual(["first", "delivered", "sent"]);
});
