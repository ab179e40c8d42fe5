import { afterEach, describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** A logger that keeps its messages. */
function listening() {
  const told: [level: string, message: string, details: Record<string, unknown>][] = [];
  const level = (name: string) => (message: string, details?: object) => void told.push([name, message, { ...details }]);
  return { told, logger: { info: level("info"), warn: level("warn"), error: level("error") } };
}

const nodeDefinitions = {
  ...builtinNodes,
  burst: defineNode({
    retryPolicy: { maxAttempts: 2, interval: 1_000, backoff: "fixed" },
    executor: (_data, { globals }) => {
      throw new TypeError(`no answer for ${(globals as { apiToken?: string }).apiToken}\u001b[2J`);
    },
  }),
  worse: defineNode({
    executor: () => {
      throw Object.assign(new Error("x"), { stack: 7 });
    },
  }),
};
const burst = flow("burst", { go: "burst" });
const globals = { apiToken: "tok_verysecret" } as never;

async function failed(workflow: object, more: object = {}, workflows: readonly object[] = []) {
  const { runtime, environment } = setUp({ nodeDefinitions, globals, workflows: [workflow, ...workflows], ...more });
  const run = await runtime.start((workflow as { id: string }).id, { workflowId: "w" });
  await environment.advance(5_000);
  const error = await run.result().catch((thrown: unknown) => thrown as { code: string; message: string; details: object });
  return { runtime, error, snapshot: await run.snapshot() };
}

describe("B8: what user code throws goes to a logger", () => {
  it("with its stack, and without secrets and signs that steer terminals", async () => {
    const { told, logger } = listening();
    const { runtime, snapshot } = await failed(burst, { logger });
    const attempts = told.filter(([level]) => level !== "info");
    expect(attempts.map(([level, message]) => [level, message])).toEqual([
      ["warn", 'Node "go" of execution "w" failed in attempt 1: no answer for ***\\u{1b}[2J; another attempt follows'],
      ["error", 'Node "go" of execution "w" failed in attempt 2: no answer for ***\\u{1b}[2J'],
    ]);
    const [, , details] = attempts[1]!;
    expect(details).toMatchObject({ workflowId: "w", nodeId: "go", type: "burst", pathId: "0", attempt: 2, name: "TypeError" });
    expect(details.stack).toMatch(/^TypeError: no answer for \*\*\*\\u\{1b\}\[2J\n\s+at .*failures\.test\.ts/);
    expect(JSON.stringify([told, snapshot])).not.toContain("verysecret");
    expect(snapshot.error).not.toHaveProperty("stack");
    await runtime.close();
    const said = told.filter(([level]) => level === "info").map(([, message]) => message);
    expect(said).toEqual(["Stepfold has begun to run executions", "Stepfold has stopped running executions"]);
  });

  it("and into the snapshot, where that is asked for", async () => {
    const { snapshot } = await failed(burst, { keepStacks: true });
    expect(snapshot.error!.stack).toMatch(/^TypeError: no answer for \*\*\*/);
    const engine = new WorkflowEngine({ workflow: flow("w", { go: "worse" }), nodeDefinitions, keepStacks: true });
    const ended = await engine.execute({});
    expect(ended.error).toEqual({ name: "Error", message: "x", nodeId: "go" });
    expect(await engine.execute({ snapshot: JSON.parse(JSON.stringify(snapshot)) }).catch(({ code }) => code)).toBeDefined();
  });

  it("and so do timeouts, doubts and errors of background work; mistakes in definitions have no stack", async () => {
    const { told, logger } = listening();
    const slow = { ...nodeDefinitions, hang: defineNode({ executor: () => new Promise<never>(() => undefined) }) };
    const hanging = { id: "hang", nodes: [{ id: "go", type: "hang", timeout: 100 }], edges: [] };
    await failed(hanging, { logger, nodeDefinitions: slow });
    await failed(flow("taken", { go: ["workflow", { workflow: "burst", detached: true, wait: false, workflowId: "w" }] }), { logger }, [
      burst,
    ]);
    const found = told.filter(([level]) => level === "error");
    expect(found.map(([, , { code }]) => code)).toEqual(["STEP_TIMEOUT", "START_CONFLICT"]);
    for (const [, , details] of found) expect(details).not.toHaveProperty("stack");
  });

  it("which cannot change anything, and has to be one", async () => {
    const broken = {
      info: () => Promise.reject(new Error("i")),
      warn: () => Promise.reject(new Error("w")),
      error: () => {
        throw new Error("e");
      },
    };
    expect((await failed(burst, { logger: broken })).snapshot.status).toBe("failed");
    const wrong = { option: "logger" };
    expect(() => setUp({ logger: { info: () => 0 } as never })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining(wrong) }),
    );
    expect(() => new WorkflowEngine({ workflow: burst, nodeDefinitions, logger: {} as never })).toThrow("it has no method info()");
  });

  it("of an engine too, with what is doubtful", async () => {
    const { told, logger } = listening();
    const large = ["set", "{{ 'x'.repeat(800000) }}"] as const;
    const doubtful = flow("w", { a: large, b: large, c: large, d: ["fail", { message: "no", code: "NONE" }] }, ["a>b", "b>c", "c>d"]);
    await new WorkflowEngine({ workflow: doubtful, nodeDefinitions, logger }).execute({ workflowId: "w" });
    expect(told).toMatchObject([
      ["warn", expect.stringMatching(/^Execution "w": /), { workflowId: "w" }],
      ["error", 'Node "d" of execution "w" failed in attempt 1: no', { code: "NONE" }],
    ]);
  });
});

describe("the error of an execution", () => {
  it("SUITES 10: has the first item of a map that failed, and its code, as cause", async () => {
    const one = flow("one", { check: ["if", { condition: "{{ input > 1 }}" }], bad: ["fail", { message: "empty", code: "EMPTY" }] }, [
      "check>bad@true",
    ]);
    const steps = {
      each: ["map", { workflow: "one", items: [1, 2, 3], concurrency: 1 }],
      seen: ["set", "{{ $json.cause.code + $json.cause.item }}"],
    } as const;
    const { error, snapshot } = await failed(flow("m", steps, [], { workflows: { one }, start: "each" }));
    const cause = { name: "Error", message: "empty", code: "EMPTY", nodeId: "bad", item: 1 };
    expect(snapshot.error).toMatchObject({ code: "MAP_FAILED", nodeId: "each", cause: { ...cause, name: expect.any(String) } });
    expect(error).toMatchObject({
      code: "EXECUTION_FAILED",
      details: { code: "MAP_FAILED", nodeId: "each", cause: { code: "EMPTY", item: 1, nodeId: "bad" } },
    });
    const caught = await failed(flow("m", steps, ["each>seen@error"], { workflows: { one } }));
    expect(caught.snapshot.output).toBe("EMPTY1");
    const engine = new WorkflowEngine({ workflow: flow("m", steps, [], { workflows: { one }, start: "each" }), nodeDefinitions });
    const ended = await engine.execute({});
    const damaged = { ...ended, error: { ...ended.error, cause: { ...cause, item: -1 } } };
    expect(await engine.execute({ snapshot: JSON.parse(JSON.stringify(ended)) })).toEqual(ended);
    await expect(engine.execute({ snapshot: damaged })).rejects.toMatchObject({ details: { pointer: "/error/cause/item" } });
  });

  it("B8: tells why it was cancelled, and so does explain", async () => {
    const { runtime, environment } = setUp({
      nodeDefinitions,
      workflows: [
        flow("ask", { ask: "approval" }),
        flow("outer", { call: ["workflow", { workflow: "ask", detached: true, workflowId: "c" }] }),
      ],
    });
    const run = await runtime.start("ask", { workflowId: "a" });
    await environment.settle();
    await run.cancel({ reason: "the customer left" });
    await environment.settle();
    await expect(run.result()).rejects.toMatchObject({
      code: "EXECUTION_CANCELLED",
      message: 'Execution "a" was cancelled: the customer left',
      details: { reason: "the customer left" },
    });
    expect(explain(await run.snapshot()).sentence).toBe("Cancelled: the customer left.");
    const silent = await runtime.start("ask", { workflowId: "b" });
    await environment.settle();
    await silent.cancel();
    await environment.settle();
    expect(await silent.snapshot()).not.toHaveProperty("error");
    await expect(silent.result()).rejects.toMatchObject({ message: 'Execution "b" was cancelled' });
    const outer = await runtime.start("outer");
    await environment.settle();
    await (await runtime.get("c")).cancel({ reason: "out of stock" });
    await environment.settle();
    await expect(outer.result()).rejects.toMatchObject({
      details: { code: "EXECUTION_CANCELLED", message: "out of stock", nodeId: "call" },
    });
  });

  it("tells why an item was cancelled, before it began and after", async () => {
    const one = flow("one", { ask: "approval" });
    const { runtime, environment } = setUp({
      nodeDefinitions,
      workflows: [flow("m", { each: ["map", { workflow: "one", items: [1, 2, 3] }] }, [], { workflows: { one } })],
    });
    const run = await runtime.start("m");
    await environment.settle();
    await run.cancel({ step: "each", item: 1, reason: "sold" });
    expect((await run.snapshot()).childStates!["0#1/1"]!.error).toMatchObject({ code: "EXECUTION_CANCELLED", message: "sold" });
  });
});
