import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../src/nodes/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const approval = { id: "ask", nodes: [{ id: "ask", type: "approval" }], edges: [] };
const unpaid = { id: "unpaid", nodes: [{ id: "pay", type: "fail", data: { code: "UNPAID", message: "no money" } }], edges: [] };

async function waiting() {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: environment.now, idempotencyRetentionMs: second });
  const made = setUp({ store, nodeDefinitions: builtinNodes as never, workflows: [approval, unpaid] }, environment);
  const run = await made.runtime.start("ask");
  await made.environment.settle();
  return { ...made, run };
}

describe("B5: waiting for an execution", () => {
  it("ends with its signal, and the execution goes on", async () => {
    const { run } = await waiting();
    const leaving = new AbortController();
    const result = run.result({ signal: leaving.signal });
    leaving.abort(new RangeError("too long"));
    await expect(result).rejects.toThrow("too long");
    await expect(run.result({ signal: leaving.signal })).rejects.toThrow("too long");
    // an execution that waits for an approval without a timeout has settled, so the call returns although its signal is aborted
    expect((await run.settled({ signal: leaving.signal })).status).toBe("paused");
    await run.resume({ payload: { approved: true } });
    expect(await run.result()).toEqual({ approved: true });
  });

  it("ends when the runtime is closed", async () => {
    const { run, runtime } = await waiting();
    const result = run.result();
    const watched = run.watch({ after: 1 }).next();
    await runtime.close();
    await expect(result).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    await expect(watched).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
  });

  it("has no end where the execution has one already, closed or not", async () => {
    const { run, runtime } = await waiting();
    await run.resume({ payload: { approved: true } });
    await run.result();
    await runtime.close();
    expect(await run.result()).toEqual({ approved: true });
  });
});

describe("B5: a watch", () => {
  it("is left at once, also while it waits, and asks for nothing more", async () => {
    const { run, store, environment } = await waiting();
    let asked = 0;
    const { events } = store;
    store.events = (...args) => {
      asked++;
      return events.apply(store, args);
    };
    const watch = run.watch({ after: 1 });
    const next = watch.next();
    await environment.settle();
    await watch.return();
    expect(await next).toEqual({ done: true, value: undefined });
    const before = asked;
    await environment.advance(10 * second);
    expect(asked).toBe(before);
  });

  it("ends with its signal", async () => {
    const { run } = await waiting();
    const leaving = new AbortController();
    const next = run.watch({ after: 1, signal: leaving.signal }).next();
    leaving.abort(new RangeError("the client has gone"));
    await expect(next).rejects.toThrow("the client has gone");
  });
});

describe("AUDIT 14: a watch of an execution that is deleted meanwhile", () => {
  it.each([false, true])("ends with WORKFLOW_NOT_FOUND, also if another one has its id: %s", async (isUsedAgain) => {
    const { run, runtime, store, environment } = await waiting();
    const other = setUp({ store, nodeDefinitions: builtinNodes as never, workflows: [approval] }, environment);
    const watch = run.watch();
    for (let i = 0; i < 2; i++) await watch.next();
    const next = watch.next();
    next.catch(() => undefined);
    const same = await other.runtime.get(run.workflowId);
    await same.cancel();
    const { workflowId } = run;
    await store.delete(workflowId);
    if (isUsedAgain) {
      await environment.advance(second);
      await runtime.start("ask", { workflowId });
    }
    await environment.advance(5 * second);
    await expect(next).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });
});

describe("B8: the error of a failed execution", () => {
  it("has the code of what failed, its node, and the whole as its cause", async () => {
    const { runtime } = await waiting();
    const run = await runtime.start("unpaid");
    await expect(run.result()).rejects.toMatchObject({
      code: "EXECUTION_FAILED",
      details: { code: "UNPAID", nodeId: "pay", message: "no money" },
      message: expect.stringContaining("with UNPAID"),
      cause: { code: "UNPAID", nodeId: "pay" },
    });
  });
});
