import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { defineDurable } from "../../../src/durable/define-durable.ts";
import type { DurableStep } from "../../../src/durable/durable-step.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { answerLinks } from "../../../src/webhooks/index.ts";

const open: Runtime[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close({ timeoutMs: 1_000 });
});

const item = defineDurable({
  id: "item",
  waits: { ok: {} },
  async run({ step }) {
    return String(await step.waitFor("ok"));
  },
});
const waitsFor = { a: {}, b: {} };
const signals = { go: {} };
type Step = DurableStep<never, { readonly a: unknown; readonly b: unknown }, { readonly go: unknown }>;

/** Starts code that returns what it does with its steps: the value that it got, or the code of the error. */
async function started(code: (step: Step) => Promise<unknown>): Promise<{ run: Run; runtime: Runtime }> {
  const order = defineDurable({
    ...{ id: "order", waits: waitsFor, signals, workflows: [item.definition] },
    async run({ step }) {
      try {
        return JSON.stringify(await code(step as unknown as Step));
      } catch (error) {
        return error instanceof StepfoldError || error instanceof Error ? `${"code" in error ? error.code : ""}: ${error.message}` : "";
      }
    },
  });
  const nodeDefinitions = { ...builtinNodes, ...order.nodes, ...item.nodes };
  const runtime = createRuntime({ store: memoryStore(), workflows: [order.definition, item.definition], nodeDefinitions, pollMs: 20 });
  open.push(runtime);
  const run = await runtime.start("order");
  await run.waitFor(["paused", "error"], { timeoutMs: 10_000 });
  return { run, runtime };
}

function fails(): never {
  throw new Error("no money");
}

describe("a cancelled step of code", () => {
  it.each<[string, (step: Step) => Promise<unknown>]>([
    ["that waits for an answer", (step) => step.waitFor("a")],
    ["that waits for a signal", (step) => step.signal("go")],
    ["that sleeps", (step) => step.sleep("a", "1h")],
    ["that waits for its next attempt", (step) => step.run("a", { retry: { maxAttempts: 3, interval: "1h" } }, fails)],
    ["that waits for a decision about its failure", (step) => step.run("a", { incident: true }, fails)],
    ["that runs a map", (step) => step.map("a", [1, 2], "item")],
    ["that runs a part", (step) => step.call("a", "item", 1)],
    ["that waits for another execution", (step) => step.start("a", "item", 1, { wait: true })],
    ["of a node type", (step) => step.node("a", "approval", {})],
  ])("%s throws, and the code goes on", async (_name, code) => {
    const { run } = await started(code);
    const [{ nodeId } = { nodeId: "a" }] = await run.waits();
    await run.cancel({ step: nodeId === "go" ? "go" : "a", reason: "not wanted" });
    expect(await run.result({ timeoutMs: 10_000 })).toBe("EXECUTION_CANCELLED: not wanted");
  });

  it("does not end the other steps", async () => {
    const { run } = await started((step) => Promise.allSettled([step.waitFor("a"), step.waitFor("b")]));
    await run.cancel({ step: "a" });
    await run.resume({ step: "b", payload: 5 });
    const [first, second] = JSON.parse(String(await run.result({ timeoutMs: 10_000 })));
    expect([first.reason.code, second.value]).toEqual(["EXECUTION_CANCELLED", 5]);
  });

  it("throws again when the code is run once more", async () => {
    const { run } = await started(async (step) => {
      const error = await step.waitFor("a").catch(({ message }: Error) => message);
      return [error, await step.waitFor("b")];
    });
    await run.cancel({ step: "a", reason: "not wanted" });
    await run.waitFor({ step: "b" }, { timeoutMs: 10_000 });
    await run.resume({ step: "b", payload: 5 });
    expect(await run.result({ timeoutMs: 10_000 })).toBe('["not wanted",5]');
  });

  it("ends the execution if it is the code itself", async () => {
    const { run } = await started((step) => step.waitFor("a"));
    await run.cancel({ step: "order" });
    expect((await run.settled({ timeoutMs: 10_000 })).status).toBe("cancelled");
  });
});

describe("steps of code, by their names", () => {
  it("are awaited, and answered once, in the code and in its items", async () => {
    const { run } = await started(async (step) => [await step.waitFor("a"), await step.map("many", [1, 2], "item")]);
    const wait = await run.waitFor({ step: "a" }, { timeoutMs: 10_000 });
    expect(wait).toMatchObject({ address: "a", kind: "external", answer: { type: "resume", target: wait.id } });
    expect(wait).not.toHaveProperty("yields");
    await run.resume({ step: "a", payload: 5 });
    for (const step of ["many[1]/ok", "many[0]/ok"]) {
      await run.waitFor({ step }, { timeoutMs: 10_000 });
      await run.resume({ step, payload: step });
    }
    await expect(run.resume({ waitId: wait.id, payload: 6 })).rejects.toMatchObject({
      code: expect.stringMatching(/^(WAIT_GONE|EXECUTION_ENDED)$/),
    });
    expect(await run.result({ timeoutMs: 10_000 })).toBe('[5,["many[0]/ok","many[1]/ok"]]');
  });

  it("are retried at once", async () => {
    let attempts = 0;
    const { run } = await started((step) =>
      step.run("a", { retry: { maxAttempts: 2, interval: "1h" } }, () => {
        if (++attempts === 1) fails();
        return attempts;
      }),
    );
    await run.retry({ step: "a" });
    expect(await run.result({ timeoutMs: 10_000 })).toBe("2");
  });

  it("refuse an answer to the code, which waits for nothing itself", async () => {
    const { run } = await started((step) => step.waitFor("a"));
    await expect(run.resume({ step: "order", payload: 1 })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await expect(run.retry({ step: "order" })).rejects.toMatchObject({ code: "RETRY_NOT_PENDING" });
    await expect(run.waitFor({ step: "order" }, { timeoutMs: 1 })).rejects.toMatchObject({ code: "NOT_IN_TIME" });
    expect([...(await paused(run)).keys()]).toEqual(["a"]);
  });

  it("are answered by a link, once", async () => {
    const { run, runtime } = await started((step) => step.node("a", "approval", { responders: ["ada"] }));
    const links = answerLinks(runtime, { keys: [{ id: "one", secret: new Uint8Array(32).fill(1) }] });
    const { id: waitId } = await run.waitFor({ step: "a" }, { timeoutMs: 10_000 });
    const token = await links.create({ workflowId: run.workflowId, waitId, by: "ada" });
    expect((await links.read(token)).wait.address).toBe("a");
    expect(await links.answer(token, { approved: true })).toEqual({ applied: true });
    expect(JSON.parse(String(await run.result({ timeoutMs: 10_000 })))).toEqual({
      handle: "approved",
      data: { approved: true, by: "ada" },
    });
    expect(await links.answer(token, { approved: true })).toEqual({ applied: false });
  });
});

/** Returns the open nodes of an execution when it waits. */
async function paused(run: Run): Promise<ReadonlyMap<string, unknown>> {
  for await (const { snapshot, activePaths } of run.watch()) if (snapshot.status === "paused") return activePaths;
  throw new Error("it does not wait");
}
